/**
 * A document is compiled from its third use on. What its callers read must not tell: every question here
 * is asked four times, and once of the reference implementation.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { execute, getIntrospectionQuery, parse, validate } from "graphql";
import { fromWire, type Uuid } from "../../../core/ids.ts";
import type { Actor } from "../../../core/actor.ts";
import { adminGrants } from "../../../../test/support/access.ts";
import {
  create,
  JSON_TYPE,
  made,
  createTargets,
  pipelineYaml,
  projectYaml,
} from "../../../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../../../test/support/platform.ts";
import { formatGraphqlError } from "../response/errors.ts";
import { Problem } from "../../../core/problem.ts";

let platform: TestPlatform;
let application: string;
let pipeline: string;

before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
  await made(create.pipeline(platform, pipelineYaml("deploy", "x", "  description: Ships it\n")));
  for (const _ of [1, 2, 3]) {
    platform.clock.advance(1_000);
    await made(create.run(platform, "deploy"));
  }
  const { body } = await platform.graphql("{ applications { nodes { id pipelines { nodes { id } } } } }");
  application = body.data.applications.nodes[0].id;
  pipeline = body.data.applications.nodes[0].pipelines.nodes[0].id;
});
after(() => platform?.stop());

async function ask(query: string, variables: unknown, operationName?: string): Promise<unknown> {
  const { status, body } = await platform.send("POST", `/gateway/api/graphql?accountId=${platform.accountId}`, {
    contentType: JSON_TYPE,
    body: JSON.stringify({ query, variables, ...(operationName === undefined ? {} : { operationName }) }),
  });
  assert.equal(status, 200);
  return body;
}

/** The answer of the reference implementation, with errors as the endpoint writes them. */
async function reference(query: string, variables: unknown, operationName?: string): Promise<unknown> {
  const { schema } = platform.platform;
  const document = parse(query);
  const faults = validate(schema, document, undefined, { hideSuggestions: true });
  const accountId = fromWire(platform.accountId) as Uuid;
  const actor: Actor = { kind: "user", accountId, id: accountId, name: "", email: "", grants: adminGrants };
  const result =
    faults.length > 0
      ? { errors: faults }
      : await execute({
          schema,
          document,
          contextValue: { actor },
          variableValues: variables as Record<string, unknown> | null,
          operationName: operationName ?? null,
          hideSuggestions: true,
        });
  const explain = (error: unknown): Problem => {
    assert.ok(error instanceof Problem, String(error));
    return error;
  };
  const errors = result.errors?.map((error) => formatGraphqlError(error, explain));
  return JSON.parse(JSON.stringify(errors ? { ...result, errors } : result));
}

const FILTERED =
  "query($f: [ExecutionFilter], $l: Int, $o: Int){ executions(filters: $f, limit: $l, offset: $o){ nodes{ id status startedAt endedAt application{ id name description createdAt } } pageInfo{ limit offset total hasMore } } }";
const questions: Readonly<Record<string, () => readonly [query: string, variables?: unknown, operation?: string]>> = {
  "a plain list": () => ["{ applications { nodes { id name description createdAt } pageInfo { total hasMore } } }"],
  "nesting, aliases and __typename": () => [
    `{ a: application(applicationId: "${application}") { __typename id p: pipelines(limit: 1) { nodes { __typename id name description createdAt createdBy { id } } } q: pipelines { pageInfo { limit } } } }`,
  ],
  "fragments on the interface": () => [
    "{ executions { nodes { __typename id ... on PipelineExecution { pipeline { id name description } } ...F } } } fragment F on Execution { status startedAt createdAt }",
  ],
  "include and skip": () => [
    "query($y: Boolean!, $n: Boolean!){ applications { nodes { id @skip(if: $y) name @include(if: $n) description @include(if: $y) } } }",
    { y: true, n: false },
  ],
  "default values of variables": () => [
    "query($l: Int = 1){ executions(limit: $l) { nodes { id } pageInfo { limit hasMore } } }",
  ],
  "default values overridden by null": () => [
    "query($l: Int = 1){ executions(limit: $l) { pageInfo { limit } } }",
    { l: null },
  ],
  "filters as variables": () => [
    FILTERED,
    { f: [{ pipeline: { operator: "EQUALS", values: [pipeline] } }], l: 2, o: 1 },
  ],
  "a single filter and a single value": () => [FILTERED, { f: { pipeline: { operator: "IN", values: pipeline } } }],
  "a single filter in the document": () => [
    `{ executions(filters: { pipeline: { operator: EQUALS, values: "${pipeline}" } }) { nodes { id } } }`,
  ],
  "null filters": () => [FILTERED, { f: [null, { pipeline: null }] }],
  "times as variables": () => [FILTERED, { f: [{ startTime: { operator: "AFTER", value: 1_800_000_001_500 } }] }],
  "variables that nobody asked for": () => [FILTERED, { x: 1 }],
  "no variables": () => [FILTERED],
  "an unknown operator in a variable": () => [FILTERED, { f: [{ pipeline: { operator: "LIKE", values: [] } }] }],
  "an unknown field in a variable": () => [FILTERED, { f: [{ status: { operator: "EQUALS" } }] }],
  "a missing field in a variable": () => [FILTERED, { f: [{ startTime: { operator: "AFTER" } }] }],
  "a time that is text": () => [FILTERED, { f: [{ startTime: { operator: "AFTER", value: "1" } }] }],
  "a time that is no whole number": () => [FILTERED, { f: [{ startTime: { operator: "AFTER", value: 1.5 } }] }],
  "a time beyond 53 bits": () => [FILTERED, { f: [{ startTime: { operator: "AFTER", value: 1e300 } }] }],
  "a limit that is text": () => [FILTERED, { l: "1" }],
  "a limit beyond 32 bits": () => [FILTERED, { l: 3_000_000_000 }],
  "two wrong variables": () => [FILTERED, { l: "1", o: {} }],
  "a missing variable": () => ["query($i: String!){ application(applicationId: $i) { id } }"],
  "a variable that is null": () => ["query($i: String!){ application(applicationId: $i) { id } }", { i: null }],
  "an id that is a number": () => ["query($i: String!){ application(applicationId: $i) { id } }", { i: 1 }],
  "a refusal beside an answer": () => [
    `query($i: String!){ applications { nodes { id } } mine: application(applicationId: $i) { id name } userByName(name: "nobody") { id } }`,
    { i: "x" },
  ],
  "negative offsets": () => ["{ executions(offset: -1) { nodes { id } } applications(limit: -1) { nodes { id } } }"],
  "an operation by name": () => ["query A { __typename } query B { b: __typename }", null, "B"],
  "an operation that is not there": () => ["query A { __typename } query B { b: __typename }", null, "C"],
  "several operations and no name": () => ["query A { __typename } query B { b: __typename }"],
  "a single operation with another name": () => ["query A { __typename }", null, "B"],
  "a field that is not there": () => ["{ applications { nodes { secret } } }"],
  introspection: () => [getIntrospectionQuery()],
  "one type": () => ['{ __type(name: "Execution") { kind possibleTypes { name } fields { name } } }'],
};

for (const [what, question] of Object.entries(questions)) {
  test(`first to fourth use answer alike: ${what}`, async () => {
    const [query, variables = null, operation] = question();
    const expected = await reference(query, variables, operation);
    for (const use of [1, 2, 3, 4]) assert.deepEqual(await ask(query, variables, operation), expected, `use ${use}`);
  });
}

test("a compiled document reads each caller's variables and account anew", async () => {
  const other = await platform.addAccount();
  const query = "query($i: String!){ application(applicationId: $i) { id } }";
  for (const _ of [1, 2, 3])
    assert.deepEqual(await ask(query, { i: application }), { data: { application: { id: application } } });
  assert.match(JSON.stringify(await ask(query, { i: "x" })), /User not authorized/);
  const stranger = await platform.send("POST", `/api/graphql?accountId=${other.accountId}`, {
    apiKey: other.apiKey,
    contentType: JSON_TYPE,
    body: JSON.stringify({ query, variables: { i: application } }),
  });
  assert.deepEqual(stranger.body.data, { application: null });
});

test("errors: message, locations, path and classification", async () => {
  const resolver = await ask('{\n  application(applicationId: "x") { id }\n}', null);
  assert.deepEqual(resolver, {
    errors: [
      {
        message: "Exception while fetching data (/application) : User not authorized.",
        locations: [{ line: 2, column: 3 }],
        path: ["application"],
        extensions: { classification: "DataFetchingException", code: "ACCESS_DENIED" },
      },
    ],
    data: { application: null },
  });
  const syntax = await ask("{ applications {", null);
  assert.deepEqual(syntax, {
    errors: [
      {
        message: "Syntax Error: Expected Name, found <EOF>.",
        locations: [{ line: 1, column: 17 }],
        extensions: { classification: "InvalidSyntax" },
      },
    ],
  });
  const invalid = await ask("{ nothing }", null);
  assert.deepEqual(invalid, {
    errors: [
      {
        message: 'Cannot query field "nothing" on type "Query".',
        locations: [{ line: 1, column: 3 }],
        extensions: { classification: "ValidationError" },
      },
    ],
  });
  const aliased = (await ask('{ a: execution(executionId: "x") { id } }', null)) as { errors: { path: unknown }[] };
  assert.deepEqual(aliased.errors[0]?.path, ["a"]);
});

/** `{ __type { ofType { ofType … { name } } } }`, `depth` levels in all. */
const deep = (depth: number): string =>
  `{ __type(name: "x") ${"{ ofType ".repeat(depth - 2)}{ name }${" }".repeat(depth - 2)} }`;
const firstError = async (query: string): Promise<string | undefined> =>
  ((await ask(query, null)) as { errors?: { message: string }[] }).errors?.[0]?.message;

test("depth is limited, through fragments too", async () => {
  assert.equal(await firstError(deep(15)), undefined);
  assert.equal(await firstError(deep(16)), "The query is 16 levels deep; at most 15 are allowed.");
  const levels = Array.from({ length: 16 }, (_, i) => `fragment F${i} on __Type { ofType { ...F${i + 1} } }`).join(" ");
  const hidden = `{ __type(name: "x") { ...F0 } } ${levels} fragment F16 on __Type { name }`;
  assert.equal(await firstError(hidden), "The query is 18 levels deep; at most 15 are allowed.");
  assert.match(
    (await firstError("{ ...F } fragment F on Query { ...F }")) ?? "",
    /Cannot spread fragment "F" within itself/,
  );
});

test("the number of tokens is limited before anything else is done", async () => {
  const aliases = Array.from({ length: 1_332 }, (_, i) => `a${i}: __typename`).join(" ");
  assert.match((await firstError(`{ x y ${aliases} }`)) ?? "", /30 aliases/);
  assert.match((await firstError(`{ x y z ${aliases} }`)) ?? "", /contains more tha[nt] 4000 tokens/);
  assert.match((await firstError("{x".repeat(100_000))) ?? "", /more tha[nt] 4000 tokens/);
  assert.match((await firstError(`{ executions(filters: ${"[".repeat(3_000)}) }`)) ?? "", /Syntax Error/);
});
