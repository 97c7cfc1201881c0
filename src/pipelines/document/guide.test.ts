import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Problem } from "../../core/problem.ts";
import { readPipeline } from "./read.ts";

const PAGE = "docs/pipelines.md";
const scope = { orgIdentifier: "default", projectIdentifier: "shop" };

const indented = (text: string, spaces: number): string => text.replace(/^(?=.)/gm, " ".repeat(spaces));

/** The variables that snippets read. */
const VARIABLES = ["version", "env"].map((name) => `    - { name: ${name}, type: String, value: <+input> }\n`).join("");
const HEAD = `pipeline:\n  name: Example\n  identifier: example\n  variables:\n${VARIABLES}  stages:\n`;
const STAGE =
  "    - stage:\n        name: S\n        identifier: s\n        type: Custom\n        spec:\n          execution:\n            steps:\n";

/** The snippet as a whole document: a list of stages or steps gets what stands around it. */
function documentOf(snippet: string): string {
  if (snippet.startsWith("pipeline:")) return snippet;
  if (snippet.startsWith("- stage:")) return HEAD + indented(snippet, 4);
  return HEAD + STAGE + indented(snippet, 14);
}

/** Why the snippet cannot be saved; undefined if it can. */
function refusal(snippet: string): string | undefined {
  try {
    readPipeline(documentOf(snippet), scope);
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return error.message;
    throw error;
  }
}

test(`the examples in ${PAGE} can be saved`, () => {
  const page = readFileSync(new URL(`../../../${PAGE}`, import.meta.url), "utf8");
  const snippets = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, snippet = ""]) => snippet);
  assert.ok(snippets.length >= 8);
  for (const snippet of snippets) assert.equal(refusal(snippet), undefined, snippet);
});

test("planted: an example with a field that does not exist", () => {
  assert.match(
    refusal("- step:\n    name: A\n    identifier: a\n    type: Wait\n    spec: { duration: 1m, until: noon }\n") ?? "",
    /spec\.until/,
  );
});
