import assert from "node:assert/strict";
import { test } from "node:test";
import { projectPaths, readText } from "../../../scripts/lib/files.ts";
import { docPathViolations } from "../lib/doc-paths.ts";
import { assertNoViolations } from "../lib/violations.ts";

const isDoc = (file: string): boolean => /^(docs\/.*|README|CONTRIBUTING)\.md$|^docs\/.*\.md$/.test(file);

test("every path that the documentation names exists", () =>
  assertNoViolations(docPathViolations(readText(isDoc), projectPaths())));

const tree = ["README.md", "package.json", "src/core/ids.ts", "docs/architecture.md", "docs/how-to/run-one-test.md"];
const planted = (text: string, doc = "docs/architecture.md"): readonly string[] =>
  docPathViolations(new Map([[doc, text]]), tree).map(({ message }) => message);

test("planted: paths in code spans, blocks and links that do not exist", () => {
  assert.deepEqual(planted("see `src/core/gone.ts`"), [
    "docs/architecture.md:1 names src/core/gone.ts, which does not exist",
  ]);
  assert.deepEqual(planted("```sh\nnpm test -- src/gone/a.test.ts\n```"), [
    "docs/architecture.md:2 names src/gone/a.test.ts, which does not exist",
  ]);
  assert.deepEqual(planted("[how](how-to/gone.md#top)"), [
    "docs/architecture.md:1 names docs/how-to/gone.md, which does not exist",
  ]);
  assert.deepEqual(planted("`src/gone/*.ts` and `GONE.md`").length, 2);
});

test("existing paths and other names pass", () => {
  const text =
    "`src/core/ids.ts`, `src/core/`, `src/*/ids.ts`, `src/<slice>/list.ts`, `docs/decisions/NNNN-title.md`, `package.json`, " +
    "`GET /gateway/api/graphql`, `./src/core/ids.ts`, [run](how-to/run-one-test.md), [out](https://example.org/src/x.ts)";
  assert.deepEqual(planted(text), []);
});
