import type { Violation } from "./settle.ts";

export type Named = { readonly file: string; readonly test: string };
export type Row = { readonly key: string; readonly tests: readonly Named[] };

/** `<a id="S1"></a>` begins a statement, a heading with a code span an operation. */
const KEY = /^(?:<a id="(S\d+)"><\/a>|### `(.+)`$)/;

/**
 * The entries below a heading of docs/contract.md. Each names its tests as a list of files in code spans, with a list
 * of quoted names below each file.
 */
export function contractRows(page: string, heading: string): readonly Row[] {
  const from = page.indexOf(`\n## ${heading}\n`);
  if (from < 0) throw new Error(`docs/contract.md has no heading "${heading}"`);
  const end = page.indexOf("\n## ", from + 1);
  const rows: { key: string; tests: Named[] }[] = [];
  let file = "";
  for (const line of page.slice(from, end < 0 ? undefined : end).split("\n")) {
    const [, statement, operation] = KEY.exec(line) ?? [];
    const key = statement ?? operation;
    if (key !== undefined) rows.push({ key, tests: [] });
    file = /^- `(.+)`$/.exec(line)?.[1] ?? (line.startsWith("  - ") ? file : "");
    const [, test] = /^ {2}- "(.+)"$/.exec(line) ?? [];
    if (test !== undefined) rows.at(-1)?.tests.push({ file, test });
  }
  return rows;
}

const TESTS = /\btest\(\s*(["`])((?:\\.|(?!\1)[^\\])+)\1/g;

/** Names of the tests in a file, as they are written: of tests made in a loop the template. */
export const testsIn = (source: string): readonly string[] =>
  [...source.matchAll(TESTS)].map(([, , name = ""]) => name);

/** Rows without a test, tests that are not there, keys that are missing, unknown or there twice. */
export function contractViolations(
  rows: readonly Row[],
  wanted: readonly string[],
  sources: ReadonlyMap<string, string>,
): readonly Violation[] {
  const keys = rows.map(({ key }) => key);
  const say = (key: string, message: string): Violation => ({ key, message: `docs/contract.md: ${message}` });
  const names = new Map<string, ReadonlySet<string>>();
  const has = ({ file, test }: Named): boolean => {
    const found = names.get(file) ?? new Set(testsIn(sources.get(file) ?? ""));
    names.set(file, found);
    return found.has(test);
  };
  return [
    ...wanted
      .filter((key) => !keys.includes(key))
      .map((key) => say(key, `${key} has no row: add one, and name the test that proves it`)),
    ...keys.filter((key) => !wanted.includes(key)).map((key) => say(key, `${key} is in no list: remove its row`)),
    ...keys.filter((key, at) => keys.indexOf(key) !== at).map((key) => say(key, `${key} has two rows`)),
    ...rows
      .filter(({ tests }) => tests.length === 0)
      .map(({ key }) => say(key, `${key} has no test: write one, and name it in the row`)),
    ...rows.flatMap(({ key, tests }) =>
      tests
        .filter((named) => !has(named))
        .map(({ file, test }) => say(key, `${key} names a test that ${file} does not have: ${test}`)),
    ),
  ];
}
