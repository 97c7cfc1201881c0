import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { errorsList } from "../../../scripts/gen/errors.ts";
import { readCode, root } from "../../../scripts/lib/files.ts";
import { declaredProblems } from "../../../scripts/lib/problem-tables.ts";
import { errorViolations } from "../lib/errors.ts";
import { assertNoViolations } from "../lib/violations.ts";

test("docs/errors.md lists every problem code, each declared once", () => {
  const declared = declaredProblems(readCode());
  assert.ok(declared.length > 0, "The reader found no problem table.");
  assertNoViolations(errorViolations(declared, readFileSync(path.join(root, "docs/errors.md"), "utf8")));
});

const table = `
  export const problems = {
    "project.taken": [409, "DUPLICATE_FIELD", "'%s' is taken" + " by | another."],
    "project.late": [409, "DUPLICATE_FIELD", "[%s]"],
    "project.gone": [404, "NOT_FOUND", \`gone\`],
  } as const;
  const notOne = { "a.b": 1, "text/plain": ["x"], plain: [1, "A", "b"] };
`;
const files = new Map([["src/projects/problems.ts", table]]);
const messages = (page: string, sources = files): readonly string[] =>
  errorViolations(declaredProblems(sources), page).map(({ message }) => message);

test("the table is read as declared, and listed by status and client-visible values", () => {
  assert.equal(
    errorsList(files),
    [
      "## 404 `NOT_FOUND`",
      "",
      "- `project.gone` gone",
      "",
      "## 409 `DUPLICATE_FIELD`",
      "",
      "- `project.late` \\[%s\\]",
      "- `project.taken` '%s' is taken by | another.",
    ].join("\n"),
  );
  assert.deepEqual(messages(errorsList(files)), []);
});

test("a long message is wrapped at 118 columns without losing text", () => {
  const message = "abcd ".repeat(60).trim();
  const list = errorsList(new Map([["src/x/problems.ts", `const problems = { "x.yz": [400, "W", "${message}"] };`]]));
  const lines = list.split("\n").slice(2);
  assert.deepEqual([lines.length, Math.max(...lines.map(({ length }) => length))], [3, 118]);
  assert.equal(lines.map((line) => line.trim()).join(" "), `- \`x.yz\` ${message}`);
});

test("planted: an undocumented code, and a removed code", () => {
  assert.deepEqual(messages("- `project.late` x\n- `project.taken` x\n- `project.old` x"), [
    "project.gone is not in docs/errors.md: run `npm run gen`",
    "docs/errors.md lists project.old, which nothing declares: run `npm run gen`",
  ]);
});

test("planted: a code declared twice, and a table in the wrong file", () => {
  const found = messages(errorsList(files), new Map([...files, ["src/projects/create.ts", table]]));
  assert.equal(found.filter((it) => it.includes("a second time")).length, 3);
  assert.equal(found.filter((it) => it.includes("problem tables stand in problems.ts")).length, 3);
});

test("planted: a computed entry is refused", () => {
  const computed = new Map([["src/x/problems.ts", 'const problems = { "x.y": [400, WIRE, "text"] };']]);
  assert.throws(() => declaredProblems(computed), /"x\.y".*without computed values/);
});
