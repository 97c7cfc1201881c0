import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { errorsTable } from "../../scripts/gen-errors.ts";
import { readCode, root } from "../../scripts/lib/files.ts";
import { declaredProblems } from "../../scripts/lib/problem-tables.ts";
import { errorViolations } from "./lib/errors.ts";
import { settle } from "./lib/settle.ts";

test("docs/errors.md lists every problem code, each declared once", () => {
  const declared = declaredProblems(readCode());
  assert.ok(declared.length > 0, "no problem table was found: the reader of tables is broken");
  settle(errorViolations(declared, readFileSync(path.join(root, "docs/errors.md"), "utf8")));
});

const table = `
  export const problems = {
    "project.taken": [409, "DUPLICATE_FIELD", "'%s' is taken" + " by | another."],
    "project.gone": [404, "NOT_FOUND", \`gone\`],
  } as const;
  const notOne = { "a.b": 1, "text/plain": ["x"], plain: [1, "A", "b"] };
`;
const files = new Map([["src/projects/problems.ts", table]]);
const messages = (page: string, sources = files): readonly string[] =>
  errorViolations(declaredProblems(sources), page).map(({ message }) => message);

test("the table is read and printed as it is declared", () => {
  assert.equal(
    errorsTable(files),
    [
      "| Code | HTTP | On the wire | Message |",
      "| --- | --- | --- | --- |",
      "| `project.gone` | 404 | `NOT_FOUND` | gone |",
      "| `project.taken` | 409 | `DUPLICATE_FIELD` | '%s' is taken by \\| another. |",
    ].join("\n"),
  );
  assert.deepEqual(messages(errorsTable(files)), []);
});

test("planted: a code that is not documented, and one that is gone", () => {
  assert.deepEqual(messages("| `project.taken` | 409 |\n| `project.old` | 400 |"), [
    "project.gone is not in docs/errors.md: run `npm run gen`",
    "docs/errors.md lists project.old, which nothing declares: run `npm run gen`",
  ]);
});

test("planted: a code declared twice, and a table in the wrong file", () => {
  const found = messages(errorsTable(files), new Map([...files, ["src/projects/create.ts", table]]));
  assert.equal(found.filter((it) => it.includes("a second time")).length, 2);
  assert.equal(found.filter((it) => it.includes("problem tables stand in problems.ts")).length, 2);
});

test("planted: a computed entry is refused, not overlooked", () => {
  const computed = new Map([["src/x/problems.ts", 'const problems = { "x.y": [400, WIRE, "text"] };']]);
  assert.throws(() => declaredProblems(computed), /"x\.y".*nothing computed/);
});
