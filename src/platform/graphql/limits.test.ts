/** What a document may ask for: each bound at its number, and the attacks that they are there for. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { JSON_TYPE } from "../../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";

let platform: TestPlatform;
/** Statements that were sent to the database. */
let statements = 0;
before(async () => {
  platform = await startTestPlatform({
    wrapDb: (db) => ({
      ...db,
      query: (...args) => {
        statements += 1;
        return db.query(...args);
      },
    }),
  });
});
after(() => platform?.stop());

type GraphqlError = {
  readonly message: string;
  readonly extensions: { readonly classification: string };
};

/** The errors of a document that has to be refused before anything runs. */
async function refused(query: string, variables: unknown = null): Promise<readonly GraphqlError[]> {
  await platform.graphql("{ __typename }");
  const earlier = statements;
  const { status, body, text } = await platform.graphql(query, variables);
  assert.equal(status, 200, text);
  assert.deepEqual(Object.keys(body), ["errors"], text.slice(0, 200));
  assert.ok(statements - earlier <= 1, "at most the credential was looked up");
  for (const { extensions } of body.errors)
    assert.match(extensions.classification, /^(ValidationError|InvalidSyntax)$/);
  return body.errors;
}

async function assertRefused(query: string, message: RegExp, variables: unknown = null): Promise<void> {
  const errors = await refused(query, variables);
  assert.match(errors[0]?.message ?? "", message);
}

async function assertAnswered(query: string, variables: unknown = null): Promise<void> {
  const { body, text } = await platform.graphql(query, variables);
  assert.equal(body.errors, undefined, text.slice(0, 500));
}

const many = (count: number, one: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => one(at)).join(" ");

test("alias overload: 30 aliases in a document, 20 fields at the top", async () => {
  const below = (count: number): string => `{ applications { nodes { ${many(count, (at) => `a${at}: id`)} } } }`;
  await assertAnswered(below(30));
  await assertRefused(below(31), /more than 30 aliases/);
  await assertAnswered(`{ ${many(20, (at) => `a${at}: __typename`)} }`);
  await assertRefused(`{ ${many(21, (at) => `a${at}: __typename`)} }`, /21 fields at the top; at most 20/);
  await assertRefused(`{ ${many(900, (at) => `a${at}: __typename`)} }`, /more than 30 aliases/);
  await assertRefused(`{ ${many(10_000, (at) => `a${at}: __typename`)} }`, /more that 4000 tokens/);
});

test("directive overload: 50 directives in a document", async () => {
  const query = (count: number): string =>
    `{ applications { nodes { ${many(count, () => "id @include(if: true)")} } } }`;
  await assertAnswered(query(50));
  await assertRefused(query(51), /more than 50 directives/);
  await assertRefused(`{ __typename ${"@a".repeat(1_500)} }`, /more than 50 directives/);
  await assertRefused(`{ __typename ${"@a".repeat(10_000)} }`, /more that 4000 tokens/);
});

test("field repetition is bounded before fields are compared with each other", async () => {
  await assertRefused(`{ ${"__typename ".repeat(1_001)} }`, /more than 1000 fields/);
  await assertRefused(`{ applications { nodes { ${"id ".repeat(900)} } } }`, /Validation aborted/);
  await assertAnswered(`{ applications { nodes { ${"id ".repeat(50)} } } }`);
});

test("fragments: cycles, doubling and number", async () => {
  await assertRefused("{ ...A } fragment A on Query { ...A }", /Cannot spread fragment "A" within itself/);
  await assertRefused(
    "{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }",
    /Cannot spread fragment "A" within itself via "B"/,
  );
  const doubling = many(20, (at) => `fragment f${at} on Application { ...f${at + 1} ...f${at + 1} }`);
  await assertRefused(
    `{ applications { nodes { ...f0 } } } ${doubling} fragment f20 on Application { id }`,
    /1048578 fields; at most 1000/,
  );
  await assertRefused(`{ ${many(101, () => "... { __typename }")} }`, /more than 100 fragments/);
});

test("depth: 15 levels of fields and of values, through fragments too", async () => {
  await assertRefused(`{ ${"a { ".repeat(900)} a ${" }".repeat(900)} }`, /./);
  const value = (levels: number): string =>
    `{ executions(filters: ${"[".repeat(levels)}${"]".repeat(levels)}) { nodes { id } } }`;
  await assertRefused(value(16), /more than 15 levels in an argument/);
  await assertRefused(value(1_900), /more than 15 levels|nested too deeply/);
});

test("introspection: the usual query passes, a nested one does not, and strangers get neither", async () => {
  const type = "{ name ofType { name ofType { name ofType { name } } } }";
  await assertAnswered(
    `{ __schema { types { name fields(includeDeprecated: true) { name args { name type ${type} } type ${type} } inputFields { name } enumValues { name } } } }`,
  );
  await assertRefused(
    "{ __schema { types { fields { type { fields { type { fields { type { fields { name } } } } } } } } } }",
    /Maximum introspection depth exceeded/,
  );
  const stranger = await platform.send("POST", `/api/graphql?accountId=${platform.accountId}`, {
    apiKey: null,
    contentType: JSON_TYPE,
    body: JSON.stringify({ query: "{ __schema { types { name } } }" }),
  });
  assert.equal(stranger.status, 401);
});

test("cost: lists in lists, with limits as literals, variables and defaults", async () => {
  const query = (outer: string, inner: string): string =>
    `{ applications(limit: ${outer}) { nodes { pipelines(limit: ${inner}) { nodes { id } } } } }`;
  await assertAnswered(query("100", "100"));
  await assertRefused(query("1000", "1000"), /may fetch 1012012 values; at most 100000/);
  const withoutNodes = "{ applications(limit: 100) { nodes { pipelines(limit: 1000) { pageInfo { limit } } } } }";
  await assertRefused(withoutNodes, /may fetch 101112 values/);
  const failing = many(29, (at) => `a${at}: pipelines(offset: -1) { __typename }`);
  await assertRefused(`{ applications(limit: 1000) { nodes { ${failing} } } }`, /may fetch 6119012 values/);
  const asked = `query($o: Int = 1000, $i: Int) ${query("$o", "$i")}`;
  for (let use = 0; use < 4; use += 1) {
    await assertAnswered(asked, { o: 10, i: 10 });
    await assertRefused(asked, /may fetch 1012012 values/, { o: 1_000, i: 1_000 });
    await assertRefused(asked, /may fetch 112012 values/, {});
  }
  await assertAnswered("{ executions(limit: 1000) { nodes { id status startedAt endedAt application { id name } } } }");
});

test("huge literals are bounded by tokens, and batches are refused", async () => {
  await assertRefused(
    `{ executions(filters: [{ pipeline: { operator: IN, values: [${'"x" '.repeat(5_000)}] } }]) { nodes { id } } }`,
    /more that 4000 tokens/,
  );
  const batch = await platform.send("POST", `/api/graphql?accountId=${platform.accountId}`, {
    contentType: JSON_TYPE,
    body: JSON.stringify(Array.from({ length: 10 }, () => ({ query: "{ __typename }" }))),
  });
  assert.equal(batch.status, 400);
});

test("no error suggests a name of the schema", async () => {
  for (const [query, variables] of [
    ["{ application { nodes { id } } }"],
    ["{ applicatons { nodes { id } } }"],
    ["{ applications(limt: 1) { nodes { id } } }"],
    ["{ executions { nodes { id pipelin } } }"],
    ["{ executions { nodes { id pipeline { id } } } }"],
    ["{ executions(filters: [{ pipelin: {} }]) { nodes { id } } }"],
    ["{ executions(filters: [{ pipeline: { operator: EQUAL, values: [] } }]) { nodes { id } } }"],
    ["query($f: [ExecutonFilter]) { executions(filters: $f) { nodes { id } } }"],
    ["{ __typename @skp(if: true) }"],
    ["query($f: [ExecutionFilter]) { executions(filters: $f) { nodes { id } } }", { f: [{ pipelin: {} }] }],
    [
      "query($f: [ExecutionFilter]) { executions(filters: $f) { nodes { id } } }",
      { f: [{ pipeline: { operator: "EQUAL", values: [] } }] },
    ],
  ] as const)
    for (let use = 0; use < 4; use += 1)
      for (const { message } of await refused(query, variables)) assert.doesNotMatch(message, /Did you mean/, message);
});
