import type { Files } from "../../../scripts/lib/files.ts";
import type { Violation } from "./settle.ts";

type Row = { readonly line: number; readonly number: number; readonly defence: string; readonly tests: string };

const rowsOf = (text: string): readonly Row[] =>
  text.split("\n").flatMap((content, i) => {
    const cells = content.split("|").map((cell) => cell.trim());
    const number = Number(/^(\d+)\. /.exec(cells[1] ?? "")?.[1]);
    return Number.isInteger(number) ? [{ line: i + 1, number, defence: cells[3] ?? "", tests: cells[4] ?? "" }] : [];
  });

const spans = (cell: string): readonly string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, span = ""]) => span);

/** A test that runs under this very name. One that is switched off, or written into a comment, is none. */
const hasTest = (source: string, name: string): boolean =>
  new RegExp(`^ *test\\(\\s*${RegExp.escape(JSON.stringify(name))},(?!\\s*\\{[^}]*\\b(skip|todo): true)`, "m").test(
    source,
  );

/** What the table of attack classes in `doc` lacks: classes without a row, rows without a defence or a test that exists. */
export function attackViolations(doc: string, files: Files, classes: readonly number[]): readonly Violation[] {
  const rows = rowsOf(files.get(doc) ?? "");
  const absent = classes
    .filter((wanted) => rows.filter(({ number }) => number === wanted).length !== 1)
    .map((wanted) => ({
      key: `${doc}: ${wanted}`,
      message: `${doc} has not one row for class ${wanted}: add its tests`,
    }));
  const unknown = rows
    .filter(({ number }) => !classes.includes(number))
    .map(({ line, number }) => ({
      key: `${doc}: ${number}: unknown`,
      message: `${doc}:${line} class ${number} is not asked for by test/conventions/attacks.test.ts: name it there`,
    }));
  return [...absent, ...unknown, ...rows.flatMap((row) => faultsOf(doc, row, files))];
}

function faultsOf(doc: string, row: Row, files: Files): readonly Violation[] {
  const fault = (what: string): Violation => ({
    key: `${doc}: ${row.number}: ${what}`,
    message: `${doc}:${row.line} class ${row.number} ${what}`,
  });
  const entries = row.tests.split("<br>").flatMap((entry) => {
    const [file = ""] = spans(entry);
    const names = [...entry.matchAll(/"([^"]+)"/g)].map(([, name = ""]) => name);
    if (!files.has(file)) return [fault(`names the test file ${file}, which does not exist`)];
    if (names.length === 0) return [fault(`names no test of ${file}`)];
    return names
      .filter((name) => !hasTest(files.get(file) ?? "", name))
      .map((name) => fault(`names a test that ${file} does not have: ${name}`));
  });
  const defences = spans(row.defence);
  const gone = defences.filter((file) => !files.has(file)).map((file) => fault(`names ${file}, which does not exist`));
  return [...entries, ...gone, ...(defences.length === 0 ? [fault("names no file that defends")] : [])];
}
