/** How many requests are allowed, counted over replicas and over time. */
import assert from "node:assert/strict";
import { randomUUIDv7 } from "node:crypto";
import { after, afterEach, before, test } from "node:test";
import { JSON_TYPE } from "../../test/support/contract.ts";
import { freshDatabase } from "../../test/support/database.ts";
import { handClock, startTestPlatform, type Answer, type TestPlatform } from "../../test/support/platform.ts";
import type { Uuid } from "../core/ids.ts";
import { asIntake } from "../platform/db/pool/budget.ts";
import { createCounter } from "./count.ts";

let platform: TestPlatform;
let replica: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  replica = await platform.replica();
});
after(() => platform?.stop());
// A new window, and the settings are looked at again.
afterEach(async () => {
  await platform.db.query("delete from settings");
  platform.clock.advance(120_000);
});

const ask = (on: TestPlatform, apiKey = platform.apiKey): Promise<Answer> =>
  on.send("GET", "/ng/api/projects/none?orgIdentifier=default", { apiKey });

async function limit(name: "account" | "token", to: number): Promise<void> {
  await platform.db.query(
    "insert into settings (account_id, identifier, value, allow_overrides, updated_at) select id, $1, $2, false, 0 from accounts where id = (select account_id from organizations limit 1)",
    [`requests_per_minute_${name}`, String(to)],
  );
  platform.clock.advance(1_001);
}

async function allowedOf(requests: number, apiKey?: string): Promise<number> {
  const answers: Answer[] = [];
  for (let at = 0; at < requests; at += 1) answers.push(await ask(at % 2 === 0 ? platform : replica, apiKey));
  return answers.filter(({ status }) => status === 404).length;
}

test("a token over its limit gets 429, the published body, and when to come again", async () => {
  await limit("token", 3);
  assert.equal(await allowedOf(10), 3);
  const refused = await ask(platform);
  assert.equal(refused.status, 429);
  assert.deepEqual(refused.body, {
    code: "TOO_MANY_REQUESTS",
    message: "Too many requests received, please try again later - Rate-Limit Limit 3 reached",
    status: "Error",
  });
  const seconds = Number(refused.headers.get("retry-after"));
  assert.ok(seconds >= 60 && seconds <= 65, String(seconds));
  const graphql = await platform.graphql("{ __typename }");
  assert.deepEqual([graphql.status, graphql.body], [429, refused.body]);
  // Told in the body or in a header, the credential is the same.
  const form = new FormData();
  form.set("query", "{ __typename }");
  form.set("x-api-key", platform.apiKey);
  const path = `/gateway/api/graphql?accountId=${platform.accountId}`;
  assert.equal((await platform.send("POST", path, { body: form, apiKey: null })).status, 429);
  platform.clock.advance(seconds * 1_000);
  assert.equal(await allowedOf(4), 3);
});

test("requests at once over two replicas: never more than the limit", async () => {
  await limit("token", 40);
  const answers = await Promise.all(Array.from({ length: 120 }, (_, at) => ask(at % 3 === 0 ? platform : replica)));
  const allowed = answers.filter(({ status }) => status === 404).length;
  assert.equal(allowed, 40);
  assert.ok(answers.every(({ status }) => status === 404 || status === 429));
});

test("the window slides: requests older than a minute become free step by step", async () => {
  await limit("token", 10);
  assert.equal(await allowedOf(6), 6);
  platform.clock.advance(30_000);
  assert.equal(await allowedOf(6), 4);
  platform.clock.advance(36_000);
  assert.equal(await allowedOf(8), 6);
  platform.clock.advance(30_000);
  assert.equal(await allowedOf(8), 4);
});

test("a portion that was taken and not used is given up, never used twice", async () => {
  await limit("token", 400);
  // Portions of two: one request leaves one in hand.
  assert.equal((await ask(platform)).status, 404);
  platform.clock.advance(30_000);
  assert.equal(await allowedOf(450), 398);
});

test("an account's limit counts all its tokens, not those of another account", async () => {
  const second = await platform.addUser("_account_viewer");
  const other = await platform.addAccount();
  await limit("account", 6);
  assert.equal(await allowedOf(4), 4);
  assert.equal(await allowedOf(4, second), 2);
  assert.equal((await ask(platform, other.apiKey)).status, 403);
  assert.equal((await ask(platform)).status, 429);
});

test("requests that a token's own limit refuses do not use up the account's", async () => {
  const second = await platform.addUser("_account_viewer");
  await limit("account", 8);
  await limit("token", 2);
  assert.equal(await allowedOf(20), 2);
  assert.equal(await allowedOf(4, second), 2);
});

test("the limits are settings: changed over REST, they count within a second", async () => {
  const answer = await platform.send("PUT", "/ng/api/settings", {
    contentType: JSON_TYPE,
    body: JSON.stringify([
      { identifier: "requests_per_minute_token", value: "5", allowOverrides: false, updateType: "UPDATE" },
    ]),
  });
  assert.equal(answer.body.data[0].updateStatus, true, answer.text);
  // What the old limit had handed out is used within its period.
  platform.clock.advance(5_000);
  assert.ok((await allowedOf(12)) <= 5);
});

test("requests without a valid credential are rejected and not counted", async () => {
  await limit("token", 2);
  for (let at = 0; at < 5; at += 1) assert.equal((await ask(platform, "pat.x.y.z")).status, 401);
  assert.equal(await allowedOf(4), 2);
});

test("rows of silent subjects are swept", async () => {
  await ask(platform);
  platform.clock.advance(70_000);
  await platform.platform.sweep();
  assert.deepEqual(await platform.db.query("select subject from request_counts"), []);
});

test("a request does not wait for a portion in the line of the webhooks", async (t) => {
  const { db, drop } = await freshDatabase({ max: 4, shareTimeout: 1 });
  t.after(drop);
  const accountId = randomUUIDv7() as Uuid;
  await db.query("insert into accounts (id, name, key_check, created_at) values ($1, 'a', '', 0)", [accountId]);
  const count = createCounter({ db, clock: handClock() });
  const takeRequest = (): unknown => count({ accountId, name: "account" }, async () => 1_000);
  const open = Promise.withResolvers<void>();
  // The share of the webhooks.
  const held = [1, 2].map(() => asIntake(() => db.transaction(() => open.promise)));
  try {
    await assert.rejects(
      asIntake(() => db.query("select 1")),
      { code: "db.busy" },
    );
    assert.deepEqual(await Promise.all([asIntake(takeRequest), takeRequest()]), [undefined, undefined]);
  } finally {
    open.resolve();
    await Promise.all(held);
  }
});
