import assert from "node:assert/strict";
import { test } from "node:test";
import { readText } from "../../../scripts/lib/files.ts";
import { attackViolations } from "../lib/attacks.ts";
import { assertNoViolations } from "../lib/violations.ts";

const DOC = "docs/operations/attacks.md";
/** Classes that need a section. */
const CLASSES = [
  "Path confusion",
  "Missing permissions",
  "Ids of another account",
  "Conflicting credentials",
  "Content type confusion",
  "Cross-site request forgery",
  "Hostile text in the web interface",
  "Cross-origin reads",
  "Forged signed tokens",
  "Requests to the address of the key set",
  "Directory clients that change users",
  "Attacks on single sign-on",
  "Server-side request forgery",
  "Expensive GraphQL",
  "Expensive bodies and documents",
  "Unbounded uploads",
  "YAML bombs",
  "Prototype pollution",
  "Mass assignment",
  "Expressions as code",
  "Shell injection",
  "SQL injection",
  "Secrets in other places",
  "Bypassing the masking of logs",
  "Attacks between steps",
  "Stolen, old and revoked tokens",
  "Guessing and enumeration",
  "Malicious archives",
  "Path traversal",
  "Races",
];

test("every attack class has a defence and existing tests", () =>
  assertNoViolations(attackViolations(DOC, readText(), CLASSES)));

const source =
  'test("it holds", async () => {});\n// test("it is gone", () => {});\ntest.skip("it rests", () => {});\n';
const more = 'test("it waits", { todo: true }, () => {});\ntest(\n  "it is long",\n  { skip },\n  () => {});\n';
const planted = (...sections: readonly string[]): readonly string[] =>
  attackViolations(
    DOC,
    new Map([
      [DOC, ["# Attacks", ...sections].join("\n\n")],
      ["src/a.ts", ""],
      ["src/a.test.ts", source + more],
      ["src/c.test.ts", '// test("it is gone", () => {});\ntest("it waits", { todo: true }, () => {});\n'],
    ]),
    ["Paths"],
  ).map(({ message }) => message);

const section = (tests: readonly string[], file = "src/a.test.ts", defence = "It holds (`src/a.ts`)."): string =>
  ["## Paths", "Attempts:", "- dots", "Defence:", `- ${defence}`, "Tests:", `- \`${file}\``]
    .concat(tests.map((name) => `  - "${name}"`))
    .join("\n");

test("planted: a section with its test passes, and a section with a whole file of tests", () => {
  assert.deepEqual(planted(section(["it holds", "it is long"])), []);
  assert.deepEqual(planted(section([])), []);
});

test("planted: sections without a running test, and classes without a section", () => {
  for (const [sections, message] of [
    [[], /has not one section 'Paths'/],
    [[section(["it holds"]), section(["it holds"])], /has not one section 'Paths'/],
    [[section(["it holds"]).replace(/Tests:[^]*/, "")], /names no test$/],
    [[section([], "src/c.test.ts")], /src\/c\.test\.ts, which has no test that runs/],
    [[section(["it holds"], "src/b.test.ts")], /src\/b\.test\.ts, which does not exist/],
    [[section(["it hol"])], /does not have: it hol$/],
    [[section(["it is gone"])], /does not have: it is gone$/],
    [[section(["it rests"])], /does not have: it rests$/],
    [[section(["it waits"])], /does not have: it waits$/],
    [[`${section(["it holds"])}\n- \`src/a.test.ts\`\n  - "it fell"`], /does not have: it fell$/],
    [[section(["it holds"], "src/a.test.ts", "By `src/b.ts`.")], /names src\/b\.ts, which does not exist/],
    [[section(["it holds"], "src/a.test.ts", "By luck.")], /names no file that implements the defence/],
    [[section(["it holds"]).replace("## Paths", "## Roads")], /'Roads' is not in the list/],
  ] as const)
    assert.match(planted(...sections).join("\n"), message);
});
