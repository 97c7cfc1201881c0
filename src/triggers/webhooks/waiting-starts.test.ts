/** Starts of one pipeline wait for its run number. Webhooks that arrive meanwhile are accepted. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  create,
  createTargets,
  eventually,
  JSON_TYPE,
  made,
  pipelineYaml,
  projectYaml,
  triggerYaml,
} from "../../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";

let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
  await made(create.pipeline(platform, pipelineYaml("deploy")));
});
after(() => platform?.stop());

const ended = async (): Promise<number> => {
  const [row] = await platform.db.query<{ n: number }>(
    "select count(*) as n from webhook_deliveries where status = 'TARGET_EXECUTION_REQUESTED'",
  );
  return row?.n ?? -1;
};

test("starts that wait for the run number of their pipeline leave connections for further webhooks", async () => {
  const { webhookUrl } = await made(create.trigger(platform, "deploy", triggerYaml("deploy", "deploy")));
  const { pathname, search } = new URL(webhookUrl);
  const call = (): Promise<{ status: number }> =>
    platform.send("POST", pathname + search, { body: "{}", contentType: JSON_TYPE, apiKey: null });
  assert.equal((await call()).status, 200);
  await eventually(async () => (await ended()) === 1 || undefined);

  await platform.db.transaction(async (tx) => {
    await tx.query("select 1 from execution_sequences for update");
    // More than the share of webhooks has connections, twice: each waits for the answer to the one before.
    for (let nth = 0; nth < 12; nth += 1) assert.equal((await call()).status, 200);
    const waiting = async (): Promise<number> => {
      const [row] = await platform.db.query<{ n: number }>(
        `select count(*) as n from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query like '%execution_sequences%'`,
      );
      return row?.n ?? -1;
    };
    await eventually(async () => (await waiting()) > 0 || undefined);
    assert.ok((await waiting()) <= 2);
  });
  await eventually(async () => (await ended()) === 13 || undefined);
});
