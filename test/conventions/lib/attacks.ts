import type { Files } from "../../../scripts/lib/files.ts";
import type { Violation } from "./violations.ts";

type Section = {
  readonly line: number;
  readonly title: string;
  /** Files that implement the defence. */
  readonly defences: readonly string[];
  /** A file without names stands for all of its tests. */
  readonly tests: readonly { readonly file: string; readonly names: readonly string[] }[];
};

/** Reads `## title` with the lists below `Defence:` and `Tests:`. */
function sectionsOf(text: string): readonly Section[] {
  const lines = text.split("\n");
  const starts = lines.flatMap((line, i) => (line.startsWith("## ") ? [i] : []));
  return starts.map((start, nth) => {
    const body = lines.slice(start + 1, starts[nth + 1]).join("\n");
    const [, defence = "", tests = ""] = /^Defence:$(.*?)^Tests:$(.*)/ms.exec(body) ?? [];
    return {
      line: start + 1,
      title: lines[start]?.slice(3) ?? "",
      defences: pathsIn(defence),
      tests: tests
        .split(/^- /m)
        .slice(1)
        .map((entry) => ({
          file: pathsIn(entry)[0] ?? "",
          names: [...entry.matchAll(/^ {2}- "(.+)"$/gm)].map(([, name = ""]) => name),
        })),
    };
  });
}

const pathsIn = (text: string): readonly string[] =>
  [...text.matchAll(/`([^`\s]+\/[^`\s]+)`/g)].map(([, path = ""]) => path);

const ANY_TEST = /^ *test\(\s*"[^"]*",(?!\s*\{[^}]*\b(skip|todo): true)/m;

/** Returns whether a test with exactly this name runs. A skipped test or one in a comment does not count. */
const hasTest = (source: string, name: string): boolean =>
  new RegExp(`^ *test\\(\\s*${RegExp.escape(JSON.stringify(name))},(?!\\s*\\{[^}]*\\b(skip|todo): true)`, "m").test(
    source,
  );

/** Reports classes without a section in the page `doc`, and sections without an existing defence or test. */
export function attackViolations(doc: string, files: Files, classes: readonly string[]): readonly Violation[] {
  const sections = sectionsOf(files.get(doc) ?? "");
  const absent = classes
    .filter((wanted) => sections.filter(({ title }) => title === wanted).length !== 1)
    .map((wanted) => ({
      key: `${doc}: ${wanted}`,
      message: `${doc} has not one section '${wanted}': add its tests`,
    }));
  const unknown = sections
    .filter(({ title }) => !classes.includes(title))
    .map(({ line, title }) => ({
      key: `${doc}: ${title}: unknown`,
      message: `${doc}:${line} '${title}' is not in the list of test/conventions/docs/attacks.test.ts: add it there`,
    }));
  return [...absent, ...unknown, ...sections.flatMap((section) => faultsOf(doc, section, files))];
}

function faultsOf(doc: string, { line, title, defences, tests }: Section, files: Files): readonly Violation[] {
  const fault = (what: string): Violation => ({
    key: `${doc}: ${title}: ${what}`,
    message: `${doc}:${line} '${title}' ${what}`,
  });
  const entries = tests.flatMap(({ file, names }) => {
    if (!files.has(file)) return [fault(`names the test file ${file}, which does not exist`)];
    if (!ANY_TEST.test(files.get(file) ?? "")) return [fault(`names ${file}, which has no test that runs`)];
    return names
      .filter((name) => !hasTest(files.get(file) ?? "", name))
      .map((name) => fault(`names a test that ${file} does not have: ${name}`));
  });
  const gone = defences.filter((file) => !files.has(file)).map((file) => fault(`names ${file}, which does not exist`));
  return [
    ...entries,
    ...gone,
    ...(defences.length === 0 ? [fault("names no file that implements the defence")] : []),
    ...(tests.length === 0 ? [fault("names no test")] : []),
  ];
}
