import type { Violation } from "./violations.ts";

/** A test in docs/contract.md, with the statements and operations that it proves. */
export type Proof = { readonly file: string; readonly test: string; readonly keys: readonly string[] };

/** Returns the numbers of the statements of docs/contract.md, in their order. */
export const statementsOf = (page: string): readonly string[] =>
  [...section(page, "Statements").matchAll(/^<a id="(S\d+)"><\/a>\*\*\1\.\*\* \S/gm)].map(([, number = ""]) => number);

/**
 * Reads the section "Tests" of docs/contract.md: a heading for each file, and below it a list of quoted test names. The
 * lines after a name contain what the test proves: numbers of statements, and operations in code spans.
 */
export function proofsOf(page: string): readonly Proof[] {
  const proofs: { file: string; test: string; keys: string[] }[] = [];
  let file = "";
  for (const line of section(page, "Tests").split("\n")) {
    file = /^### `(.+)`$/.exec(line)?.[1] ?? file;
    const [, test] = /^- "(.+)"$/.exec(line) ?? [];
    if (test !== undefined) proofs.push({ file, test, keys: [] });
    const keys = /^ {2}(\S.*?),?$/.exec(line)?.[1]?.split(", ") ?? [];
    proofs.at(-1)?.keys.push(...keys.map((key) => key.replaceAll("`", "")));
  }
  return proofs;
}

function section(page: string, heading: string): string {
  const from = page.indexOf(`\n## ${heading}\n`);
  if (from < 0) throw new Error(`docs/contract.md has no heading "${heading}"`);
  const end = page.indexOf("\n## ", from + 1);
  return page.slice(from, end < 0 ? undefined : end);
}

const TESTS = /\btest\(\s*(["`])((?:\\.|(?!\1)[^\\])+)\1/g;

/** Returns the names of the tests in a file. The name of a test in a loop is its template. */
export const testsIn = (source: string): readonly string[] =>
  [...source.matchAll(TESTS)].map(([, , name = ""]) => name);

/** Reports wanted keys without a test, invalid or repeated tests, and unknown keys. */
export function contractViolations(
  proofs: readonly Proof[],
  wanted: readonly string[],
  sources: ReadonlyMap<string, string>,
): readonly Violation[] {
  const say = (key: string, message: string): Violation => ({ key, message: `docs/contract.md: ${message}` });
  const proven = new Set(proofs.flatMap(({ keys }) => keys));
  const known = new Set(wanted);
  const names = new Map<string, ReadonlySet<string>>();
  const exists = ({ file, test }: Proof): boolean => {
    const found = names.get(file) ?? new Set(testsIn(sources.get(file) ?? ""));
    names.set(file, found);
    return found.has(test);
  };
  return [
    ...wanted
      .filter((key) => !proven.has(key))
      .map((key) => say(key, `${key} has no test: write one, and list it in the section "Tests"`)),
    ...[...proven]
      .filter((key) => !known.has(key))
      .map((key) => say(key, `${key} is neither a statement nor an operation: remove it`)),
    ...proofs.flatMap((proof, at) => {
      const { file, test, keys } = proof;
      const isTwice = proofs.findIndex((other) => other.file === file && other.test === test) !== at;
      return [
        ...(exists(proof) ? [] : [`names a test that ${file} does not have: ${test}`]),
        ...(isTwice ? [`lists a test of ${file} twice: ${test}`] : []),
        ...(keys.length === 0 ? [`does not say what a test of ${file} proves: ${test}`] : []),
        ...keys.filter((key, i) => keys.indexOf(key) !== i).map((key) => `lists ${key} twice below ${test}`),
      ].map((message) => say(test, message));
    }),
  ];
}
