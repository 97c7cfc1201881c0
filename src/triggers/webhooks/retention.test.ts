/** Which deliveries of webhooks the retention deletes, by a clock that the test drives. */
import assert from "node:assert/strict";
import { randomUUIDv7 } from "node:crypto";
import { after, afterEach, before, test } from "node:test";
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
import { createAudit } from "../../audit/index.ts";
import type { Uuid } from "../../core/ids.ts";
import { createDeliveryRetention } from "./retention.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";

const DAY_MS = 86_400_000;
let platform: TestPlatform;
let hook: string;
let other: string;

before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
  await made(create.pipeline(platform, pipelineYaml("deploy")));
  const off = "  enabled: false\n";
  hook = (await made(create.trigger(platform, "deploy", triggerYaml("deploy", "hook", off)))).webhookUrl;
  other = (await made(create.trigger(platform, "deploy", triggerYaml("deploy", "other", off)))).webhookUrl;
});
after(() => platform?.stop());
afterEach(() => platform.db.query("delete from settings"));

async function call(url: string): Promise<string> {
  const answer = await fetch(url, { method: "POST", body: "{}" });
  assert.equal(answer.status, 200);
  const { data } = (await answer.json()) as { data: { eventCorrelationId: string } };
  return data.eventCorrelationId;
}

async function set(identifier: string, value: number): Promise<void> {
  const body = JSON.stringify([{ identifier, value: String(value), allowOverrides: true, updateType: "UPDATE" }]);
  const answer = await platform.send("PUT", "/ng/api/settings", { contentType: JSON_TYPE, body });
  assert.equal(answer.status, 200, answer.text);
}

const kept = async (): Promise<string[]> =>
  (await platform.db.query<{ id: string }>("select correlation_id as id from webhook_deliveries d order by d.id")).map(
    ({ id }) => id,
  );

/** How many events each entry of the audit trail says were deleted. */
const recorded = async (): Promise<unknown[]> =>
  (
    await platform.db.query<{
      difference: { changes: readonly { readonly field: string; readonly after: unknown }[] };
    }>("select difference from audit_entries where operation = 'delivery.retention' order by id")
  ).map(({ difference }) => difference.changes.find(({ field }) => field === "events")?.after);

async function sweepAfter(ms: number): Promise<void> {
  platform.clock.advance(ms);
  await platform.platform.sweep();
}

test("processed events are deleted after 30 days; pending events stay", async () => {
  await call(hook);
  const waiting = await call(hook);
  await platform.db.query(
    "update webhook_deliveries set processed_at = null, status = null where correlation_id = $1",
    [waiting],
  );
  platform.clock.advance(29 * DAY_MS);
  const young = await call(hook);
  platform.clock.advance(2 * DAY_MS);
  // Alone: the whole sweep would process what waits first.
  const { db, clock } = platform;
  const audit = createAudit({ clock, newId: () => randomUUIDv7() as Uuid });
  const retain = createDeliveryRetention({ db, audit, clock, settingValue: async () => "30" });
  assert.equal(await retain(), true);
  assert.deepEqual(await kept(), [waiting, young]);
  assert.deepEqual(await recorded(), [1]);
  await sweepAfter(31 * DAY_MS);
  await sweepAfter(3_601_000);
  assert.deepEqual(await kept(), []);
});

test("of each trigger the newest events stay", async () => {
  await set("delivery_retention_count", 2);
  const ids: string[] = [];
  for (let nth = 0; nth < 5; nth += 1) ids.push(await call(hook));
  const others = await call(other);
  await sweepAfter(3_601_000);
  assert.deepEqual(await kept(), [...ids.slice(3), others]);
  assert.equal((await recorded()).at(-1), 3);
});

test("an event is deleted with the execution that it started", async () => {
  await set("delivery_retention_days", 0);
  const { webhookUrl } = await made(create.trigger(platform, "deploy", triggerYaml("deploy", "on")));
  const id = await call(webhookUrl);
  await eventually(async () => {
    const [row] = await platform.db.query(
      "select 1 from webhook_deliveries where correlation_id = $1 and execution_id is not null",
      [id],
    );
    return row;
  });
  // Its step, which no delegate takes, is out of time by then.
  await sweepAfter(3_601_000);
  const before = await kept();
  assert.ok(before.includes(id));
  await sweepAfter(366 * DAY_MS);
  assert.deepEqual(await platform.db.query("select 1 from executions"), []);
  assert.deepEqual(
    await kept(),
    before.filter((one) => one !== id),
  );
});
