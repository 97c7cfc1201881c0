/**
 * Answers with more errors than they list: what is listed, logged and recorded of them, and what finding their places
 * costs.
 */
import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import { after, before, test } from "node:test";
import { buildSchema, GraphQLError, Kind, parse } from "graphql";
import { toWire, type Uuid } from "../../../core/ids.ts";
import { Problem } from "../../../core/problem.ts";
import { startTestPlatform, type TestPlatform } from "../../../../test/support/platform.ts";
import { createDocuments } from "../request/documents.ts";
import { formatGraphqlErrors } from "./errors.ts";

let platform: TestPlatform;
const logged: string[] = [];
/** Called before each statement. */
let onStatement = async (_text: string, _values: readonly unknown[]): Promise<void> => {};
/** Called when a list of applications was read. */
let onList = (): void => {};
before(async () => {
  platform = await startTestPlatform({
    logTo: { write: (line: string) => logged.push(line) } as unknown as NodeJS.WritableStream,
    wrapDb: (db) => ({
      ...db,
      query: async (text, values) => {
        await onStatement(text, values ?? []);
        return db.query(text, values);
      },
      tuples: async (text, values) => {
        const rows = await db.tuples<never>(text, values);
        onList();
        return rows;
      },
    }),
  });
  await platform.db.query(
    `insert into projects (account_id, id, org_identifier, identifier, name, color, description, tags, version, created_at, updated_at)
     select account_id, gen_random_uuid(), identifier, 'p' || nth, 'p' || nth, '', '', '{}', 1, 0, 0
       from organizations, generate_series(1, 10) nth`,
    [],
  );
});
after(() => platform?.stop());

const aliases = (field: string): string => Array.from({ length: 29 }, (_, nth) => `a${nth}: ${field}`).join(" ");
/** 29 errors for each of ten applications. */
const FAILING = `applications(limit: 10) { nodes { ${aliases("pipelines(limit: -1) { __typename }")} } }`;

test("an answer lists 100 errors and says how many it leaves out, compiled or not", async () => {
  for (let use = 0; use < 4; use += 1) {
    const { status, body } = await platform.graphql(`{ ${FAILING} }`);
    assert.equal(status, 200);
    assert.equal(body.data.applications.nodes.length, 10);
    assert.equal(body.errors.length, 101);
    assert.deepEqual(body.errors[99].path, ["applications", "nodes", 3, "a12"]);
    assert.deepEqual(body.errors[100], {
      message: "The answer leaves out 190 more errors. Ask for fewer entries or fields to see all.",
      extensions: { classification: "DataFetchingException", code: "TOO_MANY_ERRORS", leftOut: 190 },
    });
  }
});

test("no more errors than are listed are logged", async () => {
  onStatement = async (text) => {
    if (text.includes("from pipelines")) throw new Error("broken");
  };
  logged.length = 0;
  const { body } = await platform.graphql(
    `{ applications { nodes { ${aliases("pipelines(limit: 1) { nodes { id } }")} } } }`,
  );
  onStatement = async () => {};
  assert.equal(body.errors.at(-1).extensions.leftOut, 190);
  assert.equal(logged.filter((line) => line.includes("unexpected error")).length, 100);
});

test("a refusal is recorded though its error is left out", async () => {
  const hidden = "00000000-0000-7000-8000-000000000001" as Uuid;
  let haveFailed = (): void => {};
  const failed = new Promise<void>((resolve) => (haveFailed = resolve));
  onStatement = async (_text, values) => (values.includes(hidden) ? failed : undefined);
  // The fields of the list fail in the round of the event loop in which it was read.
  onList = () => void setImmediate().then(haveFailed);
  platform.clock.advance(1_000);
  const since = platform.clock.now();
  const { body } = await platform.graphql(
    `{ ${FAILING} hidden: application(applicationId: "${toWire(hidden)}") { id } }`,
  );
  onStatement = async () => {};
  onList = () => {};
  assert.equal(body.errors.at(-1).extensions.leftOut, 191, "the refusal is among them");
  await platform.platform.sweep();
  const refused = await platform.db.query(
    "select operation, status from audit_entries where outcome = 'refused' and at >= $1",
    [since],
  );
  assert.deepEqual(refused, [{ operation: "graphql.application", status: 403 }]);
});

test("the message and the places of one error are bounded", async () => {
  const long = "x".repeat(100_000);
  const [failed] = formatGraphqlErrors(
    [new GraphQLError("", { path: ["a"], originalError: new Problem("x.y", 400, "X", long) })],
    (error) => error as Problem,
  );
  assert.equal(failed?.message, `Exception while fetching data (/a) : ${"x".repeat(4_096)}…`);
  const { body } = await platform.graphql(`{ ${"applications(limit: -1) { __typename } ".repeat(30)} ${long} }`);
  assert.equal(body.errors[0].message.length, 4_097);
  const document = parse(`{ ${"a ".repeat(30)} }`);
  const [operation] = document.definitions;
  assert.ok(operation?.kind === Kind.OPERATION_DEFINITION);
  const nodes = operation.selectionSet.selections;
  const [repeated] = formatGraphqlErrors([new GraphQLError("", { path: ["a"], nodes })], (error) => error as Problem);
  assert.equal(repeated?.locations?.length, 20);
});

test("an error finds its place without counting the lines before it", () => {
  const documents = createDocuments(buildSchema("type Query { a: Int }"));
  const prepared = documents.prepare(`${"\n".repeat(1_000)}  { a }`, undefined, null);
  assert.ok("document" in prepared);
  const [operation] = prepared.document.definitions;
  assert.ok(operation?.kind === Kind.OPERATION_DEFINITION);
  const error = new GraphQLError("", { nodes: operation.selectionSet.selections, path: ["a"] });
  assert.deepEqual(error.locations?.[0]?.line, 1, "the library has searched no text");
  const [formatted] = formatGraphqlErrors([error], (cause) => cause as Problem);
  assert.deepEqual(formatted?.locations, [{ line: 1_001, column: 5 }]);
});
