/** The patterns of docs/architecture.md that can be checked automatically. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { readCode } from "../../../scripts/lib/files.ts";
import { patternViolations } from "../lib/patterns.ts";
import { assertNoViolations } from "../lib/violations.ts";

const SUB_SLICE = "a sub-slice with one resource has several REST or GraphQL files";
const EXCEPTIONS = {
  "src/access/user-groups/graphql-settings.ts": SUB_SLICE,
};

test("operations, REST files and comments follow the patterns", () =>
  assertNoViolations(patternViolations(readCode()), EXCEPTIONS));

test("planted: a factory, a file of a resource, a pronoun in a comment, an append that waits for a pipe", () => {
  const files = new Map([
    ["src/projects/create.ts", "export const makeProject = 1;\n"],
    ["src/projects/rest-organizations.ts", "x;\n"],
    ["src/projects/delete.ts", `// Whoever deletes it.\nconst text = "nobody";\n`],
    ["delegate/tasks/outcome.ts", "appendFileSync(file, text); ftruncateSync(fd);\n"],
    ["delegate/tasks/outcome.test.ts", "appendFileSync(file, text);\n"],
    ["src/pipelines/rest-v1.ts", "export const makePipeline = 1;\n"],
  ]);
  assert.deepEqual(
    patternViolations(files).map(({ key }) => key),
    [
      "src/projects/create.ts: makeProject",
      "src/projects/rest-organizations.ts",
      "src/projects/delete.ts: Whoever",
      "delegate/tasks/outcome.ts: appendFileSync",
    ],
  );
});
