/** What a flood of webhooks, or one large body that many values repeat, may take of the database. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, beforeEach, test } from "node:test";
import {
  create,
  eventually,
  JSON_TYPE,
  made,
  createTargets,
  pipelineYaml,
  projectYaml,
  triggerYaml,
} from "../../../test/support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";
import { until } from "../../../test/support/until.ts";
import type { Db } from "../../platform/db/db.ts";

let platform: TestPlatform;
/** Connections of unauthenticated senders: a third of ten. */
const SHARE = 3;
/** While set, no delivery is processed: its statements fail as those of a database that is away. */
let isStuck = false;
/** While set, calls wait for it before their trigger is looked up. */
let lookup: Promise<void> | undefined;
let lookups = 0;
const stuck =
  (query: Db["query"]): Db["query"] =>
  async (text, values) => {
    if (isStuck && /update webhook_deliveries|for update of d skip locked/.test(text))
      throw Object.assign(new Error("terminating connection"), { code: "57P01" });
    if (text.includes("t.token_hash = $2")) {
      lookups += 1;
      await lookup;
    }
    return query(text, values);
  };

before(async () => {
  platform = await startTestPlatform({
    wrapDb: (db) => ({
      ...db,
      query: stuck(db.query),
      transaction: (work) => db.transaction((tx) => work({ ...tx, query: stuck(tx.query) })),
    }),
  });
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
});
after(() => platform?.stop());
beforeEach(() => {
  isStuck = false;
});

const call = async (url: string, body: unknown) => {
  const answer = await fetch(url, { method: "POST", body: JSON.stringify(body) });
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Answer["body"] };
};

const closed = (correlationId: string) =>
  eventually(async () => {
    const [row] = await platform.db.query<{ status: string; message: string }>(
      "select status, message from webhook_deliveries where correlation_id = $1 and processed_at is not null",
      [correlationId],
    );
    return row;
  });

const TABLES = ["executions", "execution_marks", "tasks", "webhook_deliveries"];
async function bytesStored(): Promise<number> {
  const [row] = await platform.db.query<{ bytes: number }>(
    "select sum(pg_total_relation_size(name::regclass))::bigint as bytes from unnest($1::text[]) as name",
    [TABLES],
  );
  return row?.bytes ?? 0;
}

test("700 variables that repeat one body of 243 KiB start no run, and store the body once", async () => {
  const names = Array.from({ length: 700 }, (_, nth) => `v${nth}`);
  const rows = names.map((name) => `    - { name: ${name}, type: String, value: <+trigger.payload.x> }\n`);
  await made(create.pipeline(platform, pipelineYaml("repeats", "none", `  variables:\n${rows.join("")}`)));
  const { webhookUrl } = await made(create.trigger(platform, "repeats", triggerYaml("repeats")));
  const before = await bytesStored();
  // Random, so that compression by the database hides nothing.
  const { status, body } = await call(webhookUrl, { x: randomBytes(182 * 1024).toString("base64") });
  assert.equal(status, 200);
  const fate = await closed(body.data.eventCorrelationId);
  assert.equal(fate.status, "INVALID_RUNTIME_INPUT_YAML");
  assert.match(fate.message, /pipeline\.variables\.v4 .*The values have more than 1048576 bytes together/);
  const grown = (await bytesStored()) - before;
  assert.ok(grown < 1024 * 1024, `${grown} bytes`);
});

test("a step whose environment repeats a large body fails before it becomes a task", async () => {
  const rows = Array.from({ length: 20 }, (_, nth) => `{ name: V${nth}, type: String, value: <+trigger.payload.x> }`);
  const yaml = pipelineYaml("environment").replace(
    "environmentVariables: [",
    `environmentVariables: [${rows.join()}, `,
  );
  await made(create.pipeline(platform, yaml));
  const { webhookUrl } = await made(create.trigger(platform, "environment", triggerYaml("environment")));
  const before = await bytesStored();
  const { body } = await call(webhookUrl, { x: randomBytes(80 * 1024).toString("base64") });
  assert.equal((await closed(body.data.eventCorrelationId)).status, "TARGET_EXECUTION_REQUESTED");
  const [run] = await platform.db.query<{ status: string; failure: string }>(
    "select status, failure from executions order by id desc limit 1",
  );
  assert.equal(run?.status, "failed");
  assert.match(run?.failure ?? "", /The values have more than 1048576 bytes together/);
  assert.deepEqual(await platform.db.query("select 1 from tasks"), []);
  const grown = (await bytesStored()) - before;
  assert.ok(grown < 1024 * 1024, `${grown} bytes`);
});

async function limits(values: Readonly<Record<string, number>>): Promise<void> {
  const body = Object.entries(values).map(([identifier, value]) => ({
    ...{ identifier, value: String(value), allowOverrides: true, updateType: "UPDATE" },
  }));
  const set = await platform.send("PUT", "/ng/api/settings", { contentType: JSON_TYPE, body: JSON.stringify(body) });
  assert.equal(set.status, 200, set.text);
  platform.clock.advance(1_001);
}

test("pending deliveries are limited for trigger and account, in number and bytes; more get 429", async () => {
  await made(create.pipeline(platform, pipelineYaml("waits")));
  const hook = async (identifier: string): Promise<string> =>
    (await made(create.trigger(platform, "waits", triggerYaml("waits", identifier)))).webhookUrl;
  const [first, second] = [await hook("first"), await hook("second")];
  const total = async (): Promise<number> =>
    (await platform.db.query<{ n: number }>("select count(*) as n from webhook_deliveries"))[0]?.n ?? 0;
  await limits({ webhook_waiting_per_trigger: 3, webhook_waiting_per_account: 5, webhook_waiting_mebibytes: 1 });
  isStuck = true;
  const earlier = await total();
  const statuses = async (url: string, times: number, body: unknown = {}): Promise<number[]> => {
    const found: number[] = [];
    for (let nth = 0; nth < times; nth += 1) found.push((await call(url, body)).status);
    return found;
  };
  assert.deepEqual(await statuses(first, 5), [200, 200, 200, 429, 429]);
  assert.deepEqual(await statuses(second, 4), [200, 200, 429, 429]);
  assert.equal(await total(), earlier + 5, "nothing that was refused is stored");
  const refused = await call(second, {});
  assert.equal(refused.headers.get("retry-after"), "5");
  assert.match(refused.body.message, /5 events of this account wait to be processed/);
  await limits({ webhook_waiting_per_trigger: 9, webhook_waiting_per_account: 9 });
  const half = { x: "x".repeat(600 * 1024) };
  assert.deepEqual(await statuses(first, 2, half), [200, 429]);
  // Once the database is back, all that was taken is processed, and there is room again.
  isStuck = false;
  platform.clock.advance(2_001);
  await platform.platform.sweep();
  assert.deepEqual(await statuses(first, 1, half), [200]);
});

test("a disabled trigger stores as many events in a minute as may wait of an enabled one; more get 429", async () => {
  await made(create.pipeline(platform, pipelineYaml("off")));
  const hook = async (identifier: string): Promise<string> =>
    (await made(create.trigger(platform, "off", triggerYaml("off", identifier, "  enabled: false\n")))).webhookUrl;
  const [first, second] = [await hook("off_first"), await hook("off_second")];
  await limits({ webhook_waiting_per_trigger: 3 });
  const statuses = async (url: string, times: number): Promise<number[]> => {
    const found: number[] = [];
    for (let nth = 0; nth < times; nth += 1) found.push((await call(url, {})).status);
    return found;
  };
  assert.deepEqual(await statuses(first, 4), [200, 200, 200, 429]);
  const refused = await call(first, {});
  assert.equal(refused.headers.get("retry-after"), "60");
  assert.match(refused.body.message, /its trigger is disabled and got 3 events within a minute/);
  assert.deepEqual(await statuses(second, 1), [200]);
  platform.clock.advance(60_000);
  assert.deepEqual(await statuses(first, 4), [200, 200, 200, 429]);
});

test("of one address 1,000 calls are answered at once; more get 429 before the database is asked", async () => {
  await made(create.pipeline(platform, pipelineYaml("busy")));
  const { webhookUrl } = await made(
    create.trigger(platform, "busy", triggerYaml("busy", "busy", "  enabled: false\n")),
  );
  await limits({ webhook_waiting_per_trigger: 9_000 });
  const open = Promise.withResolvers<void>();
  lookup = open.promise;
  lookups = 0;
  const calls = Array.from({ length: 1_000 }, () => call(webhookUrl, {}));
  await until(
    () => lookups,
    (count) => count === 1_000,
  );
  const refused = await call(webhookUrl, {});
  assert.deepEqual([refused.status, refused.headers.get("retry-after"), lookups], [429, "1", 1_000]);
  assert.match(refused.body.message, /1000 calls of this address are being answered/);
  open.resolve();
  for (const { status } of await Promise.all(calls)) assert.equal(status, 200);
  lookup = undefined;
  assert.equal((await call(webhookUrl, {})).status, 200);
});

test("first calls of addresses wait among unauthenticated senders: 1,000 of a network; more get 503 at once", async () => {
  const unknownUrl = (): string =>
    `${platform.url}/pipeline/api/webhook/custom/${platform.accountId}${randomBytes(24).toString("base64url")}/v3`;
  assert.equal((await call(unknownUrl(), {})).status, 404);
  const [locked, open] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const lock = platform.db.transaction(async (tx) => {
    await tx.query("lock table triggers in access exclusive mode");
    locked.resolve();
    await open.promise;
  });
  await locked.promise;
  let refused = 0;
  const calls = Array.from({ length: 1_020 }, async () => {
    const answer = await call(unknownUrl(), {});
    if (answer.status === 503) refused += 1;
    return answer;
  });
  // Those beside the thousand have a connection of the share, and wait for the lock.
  await until(
    () => refused,
    (count) => count === 1_020 - 1_000 - SHARE,
  );
  open.resolve();
  await lock;
  const statuses = (await Promise.all(calls)).map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 404).length, 1_000 + SHARE);
  assert.equal((await call(unknownUrl(), {})).status, 404);
});
