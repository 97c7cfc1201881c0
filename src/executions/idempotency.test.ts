/** A request to start an execution that is sent again because its answer got lost. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { startTestPlatform, type Answer, type TestPlatform } from "../../test/support/platform.ts";
import { fromWire } from "../core/ids.ts";
import { addPipeline, createPipelines, SCOPE } from "../../test/support/runs.ts";

const DAY = 24 * 3_600_000;
let platform: TestPlatform;
let replica: TestPlatform;

before(async () => {
  platform = await startTestPlatform();
  replica = await platform.replica();
  const steps = [{ id: "a" }];
  await createPipelines(platform, { id: "one", steps }, { id: "other", steps });
});
after(() => platform?.stop());

type How = { readonly on?: TestPlatform; readonly apiKey?: string; readonly body?: string };

const post = (path: string, key: string | undefined, { on = platform, apiKey, body }: How = {}): Promise<Answer> =>
  on.send("POST", `/pipeline/api/pipeline/execute/${path}?${SCOPE}`, {
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(body === undefined ? {} : { body, contentType: "application/json" }),
    headers: key === undefined ? {} : { "idempotency-key": key },
  });

const planOf = ({ status, body, text }: Answer): { uuid: string } => {
  assert.equal(status, 200, text);
  return body.data.planExecution;
};

const runs = async (): Promise<number> => (await platform.db.query("select id from executions")).length;

test("start, rerun and their forms with input sets: the same answer again, and one execution", async () => {
  const original = planOf(await post("one", undefined)).uuid;
  for (const path of [
    "one",
    "one/v2",
    "one/inputSetList",
    `rerun/${original}/one`,
    `rerun/${original}/one/inputSetList`,
  ]) {
    const had = await runs();
    const body = path.endsWith("inputSetList") ? "{}" : undefined;
    const key = `"key of ${path}"`;
    const [first, again, elsewhere] = [
      planOf(await post(path, key, { ...(body && { body }) })),
      planOf(await post(path, key, { ...(body && { body }) })),
      planOf(await post(path, key.slice(1, -1), { on: replica, ...(body && { body }) })),
    ];
    assert.deepEqual([again, elsewhere], [first, first], path);
    assert.equal(await runs(), had + 1, path);
  }
});

test("a pipeline started by a v1 path: the same answer again, and one execution", async () => {
  for (const base of ["/v1", "/pipeline/api/v1"]) {
    const had = await runs();
    const start = async (): Promise<string> => {
      const answer = await platform.send("POST", `${base}/orgs/default/projects/p/pipelines/one/execute`, {
        headers: { "idempotency-key": `key of ${base}` },
      });
      assert.equal(answer.status, 200, answer.text);
      return answer.body.execution_details.execution_id;
    };
    assert.equal(await start(), await start(), base);
    assert.equal(await runs(), had + 1, base);
  }
});

test("the description of the interface names the header where it counts", () => {
  const { paths } = JSON.parse(readFileSync(new URL("../../api/openapi.json", import.meta.url), "utf8"));
  const named = Object.entries<Record<string, { parameters?: { name: string }[] }>>(paths).flatMap(([path, methods]) =>
    Object.values(methods).some(({ parameters = [] }) => parameters.some(({ name }) => name === "Idempotency-Key"))
      ? [path]
      : [],
  );
  const starts = Object.entries<object>(paths).flatMap(([path, methods]) =>
    /graphql(-api)?$|\/execute(\/|$)/.test(path) && !/webhook|interrupt/.test(path) && !onlyReads(methods)
      ? [path]
      : [],
  );
  assert.deepEqual(named, starts);
});

const onlyReads = (methods: object): boolean => Object.keys(methods).every((method) => method === "get");

test("many at once on two servers start one execution", async () => {
  const had = await runs();
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, nth) => post("one", "at once", { on: nth % 2 === 0 ? platform : replica })),
  );
  assert.equal(new Set(answers.map((answer) => planOf(answer).uuid)).size, 1);
  assert.equal(await runs(), had + 1);
});

test("another request with the key is refused; another caller, operation or key is not concerned", async () => {
  const first = planOf(await post("one", "mine")).uuid;
  const had = await runs();
  const inputs = JSON.stringify({ pipeline: { identifier: "one" } });
  for (const answer of [await post("other", "mine"), await post("one", "mine", { body: inputs })]) {
    assert.equal(answer.status, 422, answer.text);
    assert.match(answer.body.message, /Idempotency-Key 'mine' was used for another request/);
  }
  assert.equal(await runs(), had);
  const others = [
    await post("one", "mine", { apiKey: await platform.addUser("_account_admin") }),
    await post("one/v2", "mine"),
    await post("one", "yours"),
  ];
  assert.equal(new Set([first, ...others.map((answer) => planOf(answer).uuid)]).size, 4);
});

/** What an older server has stored for a start of "one": the hash of the request, without the pipeline. */
const OLDER_REQUEST: readonly unknown[] = [
  { identifier: "one" },
  { orgIdentifier: "default", projectIdentifier: "p" },
  "",
  "",
];
const hashOf = (request: readonly unknown[]): Buffer => createHash("sha256").update(JSON.stringify(request)).digest();

test("a key of an older server gets the same answer after an upgrade, for the same request and pipeline alone", async () => {
  const storeHash = (value: Buffer) =>
    platform.db.query("update idempotency_keys set request_hash = $1 where key = 'older'", [value]);
  const first = planOf(await post("one", "older")).uuid;
  const had = await runs();
  await storeHash(hashOf(OLDER_REQUEST));
  assert.equal(planOf(await post("one", "older")).uuid, first);
  await storeHash(hashOf(OLDER_REQUEST.with(3, "eA==")));
  assert.equal((await post("one", "older")).status, 422);
  // Another pipeline has got the identifier since.
  await storeHash(hashOf(OLDER_REQUEST));
  const moveTo = (identifier: string) =>
    platform.db.query(
      "update executions set pipeline_id = (select id from pipelines where identifier = $2), run_sequence = 1000 where id = $1",
      [fromWire(first), identifier],
    );
  await moveTo("other");
  assert.equal((await post("one", "older")).status, 422);
  await moveTo("one");
  assert.equal(planOf(await post("one", "older")).uuid, first);
  assert.equal(await runs(), had);
});

test("a refused request uses no key up; the caller's permission is asked for each time", async () => {
  assert.equal((await post("missing", "early")).status, 404);
  await addPipeline(platform, { id: "missing", steps: [{ id: "a" }] });
  const { uuid } = planOf(await post("missing", "early"));
  assert.equal(planOf(await post("missing", "early")).uuid, uuid);
  const viewer = await platform.addUser("_account_viewer");
  assert.equal((await post("missing", "early", { apiKey: viewer })).status, 403);
});

test("a key is kept for 24 hours, and then deleted", async () => {
  const first = planOf(await post("one", "daily")).uuid;
  platform.clock.advance(DAY - 1);
  assert.equal(planOf(await post("one", "daily")).uuid, first);
  platform.clock.advance(1);
  const next = planOf(await post("one", "daily")).uuid;
  assert.notEqual(next, first);
  assert.equal(planOf(await post("one", "daily")).uuid, next);
  await platform.platform.sweep();
  assert.deepEqual(await platform.db.query("select key from idempotency_keys"), [{ key: "daily" }]);
  platform.clock.advance(DAY);
  await platform.platform.sweep();
  assert.deepEqual(await platform.db.query("select key from idempotency_keys"), []);
});

test("a key that is none is refused", async () => {
  for (const key of ["", '""', "x".repeat(256), "caf\u00e9"]) {
    const answer = await post("one", key);
    assert.equal(answer.status, 400, key);
    assert.match(answer.body.message, /Idempotency-Key takes 1 to 255 printable ASCII/);
  }
  planOf(await post("one", "x".repeat(255)));
});

test("GraphQL: each field of a mutation starts once, whatever its clientMutationId", async () => {
  const { body } = await platform.graphql("{ applications { nodes { id pipelines { nodes { id name } } } } }");
  const [application] = body.data.applications.nodes;
  const entityId = application.pipelines.nodes.find(({ name }: { name: string }) => name === "one").id;
  const start = async (clientMutationId: string, notes = "n"): Promise<Answer> => {
    const input = `{ applicationId: "${application.id}", entityId: "${entityId}", executionType: PIPELINE, notes: "${notes}", clientMutationId: "${clientMutationId}" }`;
    const query = `mutation { a: startExecution(input: ${input}) { execution { id } } b: startExecution(input: ${input}) { execution { id } } }`;
    return platform.send("POST", `/api/graphql?accountId=${platform.accountId}`, {
      contentType: "application/json",
      body: JSON.stringify({ query }),
      account: null,
      headers: { "idempotency-key": "graph" },
    });
  };
  const first = (await start("1")).body.data;
  assert.notEqual(first.a.execution.id, first.b.execution.id);
  assert.deepEqual((await start("2")).body.data, first);
  assert.match((await start("3", "other")).body.errors[0].message, /was used for another request/);
});
