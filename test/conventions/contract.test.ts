/** docs/contract.md: every statement and every operation has a row, and every row a test that exists. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { buildSchema } from "graphql";
import { isTest, readText, root } from "../../scripts/lib/files.ts";
import { operationsOf, readDocument } from "../contract/operations.ts";
import { contractRows, contractViolations, testsIn, type Row } from "./lib/contract-rows.ts";
import { settle } from "./lib/settle.ts";

/** How many statements the contract makes: a row that is taken away is missed. */
const STATEMENTS = 119;

/** What is not built yet, so that no test can prove it. Whoever builds it writes the test into the row. */
const notYet = {};

const read = (file: string): string => readFileSync(path.join(root, file), "utf8");
const page = read("docs/contract.md");
const sources = readText(isTest);
const numbered = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `S${at + 1}`);

test("every statement has its number once, in order, and a test that exists", () => {
  const rows = contractRows(page, "Statements");
  assert.deepEqual(
    rows.map(({ key }) => key),
    numbered(STATEMENTS),
  );
  settle(contractViolations(rows, numbered(STATEMENTS), sources), notYet);
});

test("every operation of api/openapi.json has a row and a test that exists", () => {
  const wanted = operationsOf(readDocument()).map(({ operationId }) => operationId);
  assert.ok(wanted.length > 0);
  settle(contractViolations(contractRows(page, "REST operations"), wanted, sources));
});

test("every query and mutation of api/schema.graphql has a row and a test that exists", () => {
  const schema = buildSchema(read("api/schema.graphql"));
  const wanted = [
    ...Object.keys(schema.getQueryType()?.getFields() ?? {}).map((name) => `query ${name}`),
    ...Object.keys(schema.getMutationType()?.getFields() ?? {}).map((name) => `mutation ${name}`),
  ];
  assert.ok(wanted.length > 0);
  settle(contractViolations(contractRows(page, "GraphQL operations"), wanted, sources));
});

const FILE = "src/x/x.test.ts";
const source = new Map([[FILE, 'test("it is so", () => {});\nfor (const n of ns) test(`${n} is so`, () => {});\n']]);
const entries = (...rows: readonly (readonly [key: string, list: string])[]): readonly Row[] => {
  const text = rows.map(([key, list]) => `<a id="${key}"></a>**${key}.** Words.\n\n${list}\n`).join("\n");
  return contractRows(`# Page\n\n## One\n\n### Group\n\n${text}\n## Two\n`, "One");
};
const list = (name: string, file = FILE): string => `- \`${file}\`\n  - "${name}"`;
const messages = (rows: readonly Row[], wanted: readonly string[] = ["S1"]): readonly string[] =>
  contractViolations(rows, wanted, source).map(({ message }) => message.replace("docs/contract.md: ", ""));

test("entries are read with all their tests, templates as they are written", () => {
  const rows = entries(["S1", `${list("it is so")}\n${list("${n} is so").split("\n")[1]}`]);
  assert.deepEqual(rows, [
    {
      key: "S1",
      tests: [
        { file: FILE, test: "it is so" },
        { file: FILE, test: "${n} is so" },
      ],
    },
  ]);
  assert.deepEqual(messages(rows), []);
  const operation = contractRows('# Page\n\n## One\n\n### `query a`\n\n- `x.test.ts`\n  - "say "a""\n', "One");
  assert.deepEqual(operation, [{ key: "query a", tests: [{ file: "x.test.ts", test: 'say "a"' }] }]);
  assert.throws(() => contractRows("# Page\n", "One"), /no heading/);
});

test("planted: a row without a test, and tests that are not there", () => {
  assert.deepEqual(messages(entries(["S1", ""])), ["S1 has no test: write one, and name it in the row"]);
  assert.deepEqual(messages(entries(["S1", "not yet: nothing of it"])).length, 1);
  for (const [name, file] of [
    ["it is", FILE],
    ["a is so", FILE],
    ["it is so", "src/gone.test.ts"],
  ] as const)
    assert.deepEqual(messages(entries(["S1", list(name, file)])), [
      `S1 names a test that ${file} does not have: ${name}`,
    ]);
});

test("planted: a missing row, one of nothing, and one that is there twice", () => {
  const good = list("it is so");
  assert.deepEqual(messages(entries(["S1", good]), ["S1", "S2"]), [
    "S2 has no row: add one, and name the test that proves it",
  ]);
  assert.deepEqual(messages(entries(["S1", good], ["S3", good])), ["S3 is in no list: remove its row"]);
  assert.deepEqual(messages(entries(["S1", good], ["S1", good])), ["S1 has two rows"]);
});

test("planted: a test that is switched off, or only spoken of, is none", () => {
  const off = [
    'test.skip("off", () => {});',
    "contest(`off`, it);",
    'test(`x`, () => test_("off"));',
    "// the test 'off'",
  ];
  assert.deepEqual(testsIn(off.join("\n")), ["x"]);
});
