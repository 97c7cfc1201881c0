/** Checks that every statement and every operation of docs/contract.md has an existing test. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { buildSchema } from "graphql";
import { isTest, readText, root } from "../../../scripts/lib/files.ts";
import { operationsOf, readDocument } from "../../contract/operations.ts";
import { contractViolations, proofsOf, statementsOf, testsIn } from "../lib/contract-rows.ts";
import { assertNoViolations } from "../lib/violations.ts";

/** Number of statements of the contract, so that a removed one is noticed. */
const STATEMENTS = 119;

const read = (file: string): string => readFileSync(path.join(root, file), "utf8");
const page = read("docs/contract.md");
const statements = Array.from({ length: STATEMENTS }, (_, at) => `S${at + 1}`);

test("every statement has its number once, in order", () => {
  assert.deepEqual(statementsOf(page), statements);
});

test("every statement, REST operation, query and mutation has an existing test", () => {
  const rest = operationsOf(readDocument()).map(({ operationId }) => operationId);
  const schema = buildSchema(read("api/schema.graphql"));
  const graphql = [
    ...Object.keys(schema.getQueryType()?.getFields() ?? {}).map((name) => `query ${name}`),
    ...Object.keys(schema.getMutationType()?.getFields() ?? {}).map((name) => `mutation ${name}`),
  ];
  assert.ok(rest.length > 0 && graphql.length > 0);
  assertNoViolations(contractViolations(proofsOf(page), [...statements, ...rest, ...graphql], readText(isTest)));
});

const FILE = "src/x/x.test.ts";
const source = new Map([[FILE, 'test("it is so", () => {});\nfor (const n of ns) test(`${n} is so`, () => {});\n']]);
const planted = (list: string, file = FILE): string =>
  `# Page\n\n## Statements\n\n<a id="S1"></a>**S1.** Words.\n\n## Tests\n\n### \`${file}\`\n\n${list}\n`;
const messages = (list: string, wanted: readonly string[] = ["S1"], file = FILE): readonly string[] =>
  contractViolations(proofsOf(planted(list, file)), wanted, source).map(({ message }) =>
    message.replace("docs/contract.md: ", ""),
  );

test("tests are read with what they prove; names in templates are read unchanged", () => {
  const list = '- "it is so"\n  S1, `a.get`,\n  `query b`\n- "${n} is so"\n  S1';
  assert.deepEqual(statementsOf(planted(list)), ["S1"]);
  assert.deepEqual(proofsOf(planted(list)), [
    { file: FILE, test: "it is so", keys: ["S1", "a.get", "query b"] },
    { file: FILE, test: "${n} is so", keys: ["S1"] },
  ]);
  assert.deepEqual(messages(list, ["S1", "a.get", "query b"]), []);
  assert.deepEqual(proofsOf(planted('- "say "a""\n  S1'))[0]?.test, 'say "a"');
  assert.throws(() => proofsOf("# Page\n"), /no heading/);
});

test("planted: a statement without a unique number, or without text", () => {
  const text = '## Statements\n\n<a id="S1"></a>**S2.** Words.\n\n<a id="S3"></a>**S3.**\n';
  assert.deepEqual(statementsOf(`# Page\n\n${text}`), []);
});

test("planted: a statement without a test, and a test that does not exist", () => {
  assert.deepEqual(messages(""), ['S1 has no test: write one, and list it in the section "Tests"']);
  for (const [name, file] of [
    ["it is", FILE],
    ["a is so", FILE],
    ["it is so", "src/gone.test.ts"],
  ] as const)
    assert.deepEqual(messages(`- "${name}"\n  S1`, ["S1"], file), [`names a test that ${file} does not have: ${name}`]);
});

test("planted: an unknown statement, a test that proves nothing, and repetitions", () => {
  const good = '- "it is so"\n  S1';
  assert.deepEqual(messages(`${good}, S3`), ["S3 is neither a statement nor an operation: remove it"]);
  assert.deepEqual(messages(`${good}\n- "\${n} is so"`), [`does not say what a test of ${FILE} proves: \${n} is so`]);
  assert.deepEqual(messages(`${good}\n${good}`), [`lists a test of ${FILE} twice: it is so`]);
  assert.deepEqual(messages(`${good}, S1`), ["lists S1 twice below it is so"]);
});

test("planted: a test that is skipped, or only mentioned, does not count", () => {
  const off = [
    'test.skip("off", () => {});',
    "contest(`off`, it);",
    'test(`x`, () => test_("off"));',
    "// the test 'off'",
  ];
  assert.deepEqual(testsIn(off.join("\n")), ["x"]);
});
