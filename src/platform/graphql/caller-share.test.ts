/** Slow requests of one caller do not occupy all connections: those of other callers are answered meanwhile. */
import assert from "node:assert/strict";
import { randomUUIDv7 } from "node:crypto";
import { after, before, test } from "node:test";
import {
  connectorYaml,
  create,
  createTargets,
  made,
  pipelineYaml,
  projectYaml,
  SCOPE,
} from "../../../test/support/contract.ts";
import { abortRun, waitForEnd } from "../../../test/support/runs.ts";
import { silentLog } from "../../../test/support/database.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";
import { until } from "../../../test/support/until.ts";
import { fromWire, toWire, type Uuid } from "../../core/ids.ts";
import type { Db } from "../db/db.ts";
import { openDb } from "../db/pool/pool.ts";
import { problem } from "../db/problems.ts";

const SLOW_REQUESTS = 15;
/** A third of the ten connections. */
const SHARE = 3;

let platform: TestPlatform;
/** Connections apart from those of the server. */
let apart: Db;
let otherKey: string;
/** Executions with a line in their logs. */
const [endedRun, openRun] = [{ id: "" }, { id: "" }];
let isBusy = false;
const busy = () => problem("db.busy", [], { retryAfter: 1 });
before(async () => {
  platform = await startTestPlatform({
    wrapDb: (db) => ({
      ...db,
      query: (text, values) => (isBusy ? Promise.reject(busy()) : db.query(text, values)),
    }),
  });
  const { connection } = platform.database;
  apart = openDb({ connection, log: silentLog, onError: (error) => assert.fail(String(error)) });
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
  await made(create.pipeline(platform, pipelineYaml()));
  for (const run of [endedRun, openRun]) {
    run.id = (await made(create.run(platform, "deploy"))).planExecution.uuid;
    await apart.query(
      `insert into log_chunks (account_id, execution_id, position, node_id, node_position, data)
       values ($1, $2, 0, $2, 0, $3)`,
      [fromWire(platform.accountId), fromWire(run.id), Buffer.from("a line\n")],
    );
  }
  await made(abortRun(platform, endedRun.id));
  await waitForEnd(platform, endedRun.id);
  otherKey = await platform.addUser("_account_admin");
});
after(async () => {
  await apart?.close();
  await platform?.stop();
});

/** Returns the number of statements that wait for a lock. */
async function countWaiting(): Promise<number> {
  const [row] = await apart.query<{ waiting: number }>(
    `select count(*)::int as waiting from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return row?.waiting ?? 0;
}

const newWireId = (): string => toWire(randomUUIDv7() as Uuid);

type Ask = (apiKey: string) => Promise<Answer>;
const graphql =
  (query: string): Ask =>
  (apiKey) =>
    platform.send("POST", `/api/graphql?accountId=${platform.accountId}`, {
      apiKey,
      contentType: "application/json",
      body: JSON.stringify({ query }),
    });
const rest =
  (path: string): Ask =>
  (apiKey) =>
    platform.send("GET", `${path}?${SCOPE}`, { apiKey });

let nth = 0;
const createConnector: Ask = (apiKey) =>
  platform.send("POST", "/ng/api/connectors", {
    ...{ apiKey, contentType: "text/yaml", body: connectorYaml(`registry${(nth += 1)}`) },
  });
const createApplication: Ask = (apiKey) =>
  graphql(`mutation { createApplication(input: { name: "app ${(nth += 1)}" }) { application { id } } }`)(apiKey);
const createRole: Ask = (apiKey) => {
  const identifier = `role${(nth += 1)}`;
  const body = JSON.stringify({ identifier, name: identifier, permissions: [], allowedScopeLevels: ["account"] });
  return platform.send("POST", "/authz/api/roles", { apiKey, contentType: "application/json", body });
};

const LOG = "log_chunks in access exclusive mode";
type Requests = { readonly slow: Ask; readonly quick: Ask; readonly lock?: string };
const READS: Readonly<Record<"GraphQL" | "REST", Requests>> = {
  GraphQL: {
    slow: graphql("{ pipelines { nodes { name } pageInfo { total } } }"),
    quick: graphql("{ applications { nodes { name } pageInfo { total } } }"),
  },
  REST: { slow: rest("/v1/orgs/default/projects/shop/pipelines"), quick: rest("/ng/api/servicesV2") },
};

const logs =
  (path: string): Ask =>
  (apiKey) =>
    platform.send("GET", `/pipeline/api/pipelines/execution/${endedRun.id}/logs${path}`, { apiKey });
const logService: Ask = (apiKey) => {
  const prefix = `${platform.accountId}/pipeline/deploy/1/-${endedRun.id}`;
  const query = new URLSearchParams({ accountID: platform.accountId, prefix }).toString();
  return platform.send("GET", `/log-service/blob/lines?${query}`, { apiKey });
};

const REQUESTS: Readonly<Record<string, Requests>> = {
  "reads by GraphQL": READS.GraphQL,
  "reads by REST": READS.REST,
  "changes by GraphQL": { slow: createApplication, quick: createRole, lock: "projects in share mode" },
  "changes by REST": { slow: createConnector, quick: createApplication, lock: "connectors in share mode" },
  // Their handlers answer at once; the locked table is read while the answer is sent.
  "downloads of a log": { ...READS.REST, slow: logs(""), lock: LOG },
  "downloads of a log as JSON": { ...READS.GraphQL, slow: logs("?format=json"), lock: LOG },
  "downloads by the prefix of a log": { ...READS.GraphQL, slow: logService, lock: LOG },
  "event streams of a log": { ...READS.REST, slow: logs("/stream"), lock: LOG },
  "exports of the audit trail": {
    ...READS.REST,
    slow: rest("/audit/api/audits/export"),
    lock: "audit_entries in access exclusive mode",
  },
};

for (const [name, { slow, quick, lock = "pipelines in access exclusive mode" }] of Object.entries(REQUESTS))
  test(`${name}: another caller is answered while fifteen slow ones of one caller wait for the database`, async () => {
    // The credentials are known before all connections may be busy.
    for (const ask of [slow, quick])
      for (const key of [platform.apiKey, otherKey]) assert.equal((await ask(key)).status, 200);
    let answers: Promise<Answer[]> | undefined;
    await apart.transaction(async (tx) => {
      await tx.query(`lock table ${lock}`);
      answers = Promise.all(Array.from({ length: SLOW_REQUESTS }, () => slow(platform.apiKey)));
      await until(countWaiting, (waiting) => waiting === SHARE);
      for (let nth = 0; nth < SLOW_REQUESTS; nth += 1) {
        const { status, body, text } = await quick(otherKey);
        assert.equal(status, 200, text);
        assert.equal(body.errors, undefined, text);
      }
    });
    for (const { status, text, body } of (await answers) ?? []) {
      assert.equal(status, 200, text);
      assert.notEqual(text, "");
      assert.equal(body?.errors, undefined, text);
    }
  });

test("callers are answered while requests with unknown tokens wait for the database", async () => {
  assert.equal((await READS.REST.quick(otherKey)).status, 200);
  const [kind, account, , secret] = platform.apiKey.split(".");
  let answers: Promise<Answer[]> | undefined;
  await apart.transaction(async (tx) => {
    await tx.query("lock table tokens in access exclusive mode");
    const unknown = Array.from({ length: SLOW_REQUESTS }, () => [kind, account, newWireId(), secret].join("."));
    answers = Promise.all(unknown.map((token) => READS.REST.slow(token)));
    await until(countWaiting, (waiting) => waiting === SHARE);
    for (let nth = 0; nth < SLOW_REQUESTS; nth += 1) assert.equal((await READS.REST.quick(otherKey)).status, 200);
  });
  for (const { status, text } of (await answers) ?? []) assert.equal(status, 401, text);
});

test("open event streams of one caller hold no connection and leave the share to its other requests", async (t) => {
  const ended = new AbortController();
  t.after(() => ended.abort());
  const url = `${platform.url}/pipeline/api/pipelines/execution/${openRun.id}/logs/stream?${SCOPE}`;
  const target = `${url}&accountIdentifier=${platform.accountId}`;
  for (let nth = 0; nth < SLOW_REQUESTS; nth += 1) {
    const response = await fetch(target, { headers: { "x-api-key": platform.apiKey }, signal: ended.signal });
    const { value } = (await response.body?.getReader().read()) ?? {};
    assert.match(Buffer.from(value ?? []).toString(), /a line/);
  }
  for (let nth = 0; nth < SLOW_REQUESTS; nth += 1) assert.equal((await READS.REST.quick(platform.apiKey)).status, 200);
  const [row] = await apart.query<{ n: number }>(
    `select count(*)::int as n from pg_stat_activity
      where datname = current_database() and state like 'idle in transaction%'`,
  );
  assert.equal(row?.n, 0);
});

test("a query that got no connection in time names the seconds to wait, as REST does", async () => {
  for (const [ask, expected] of [
    [READS.GraphQL, 200],
    [READS.REST, 503],
  ] as const) {
    await ask.slow(platform.apiKey);
    isBusy = true;
    const { status, headers, text } = await ask.slow(platform.apiKey).finally(() => (isBusy = false));
    assert.equal(status, expected, text);
    assert.match(text, /The database has no free connection at the moment/);
    assert.equal(headers.get("retry-after"), "1");
  }
});
