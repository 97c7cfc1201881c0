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
  SCOPE,
  triggerYaml,
  YAML,
} from "../../../test/support/contract.ts";
import { toWire, type Uuid } from "../../core/ids.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";

let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
  await made(create.pipeline(platform, pipelineYaml("deploy")));
});
after(() => platform?.stop());

const ended = async (status = "TARGET_EXECUTION_REQUESTED"): Promise<number> => {
  const [row] = await platform.db.query<{ n: number }>(
    "select count(*) as n from webhook_deliveries where status = $1",
    [status],
  );
  return row?.n ?? -1;
};
/** Starts that wait for the run number of their pipeline. */
const waiting = async (): Promise<number> => {
  const [row] = await platform.db.query<{ n: number }>(
    `select count(*) as n from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%execution_sequences%'`,
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
    await eventually(async () => (await waiting()) > 0 || undefined);
    assert.ok((await waiting()) <= 2);
  });
  await eventually(async () => (await ended()) === 13 || undefined);
});

const losses: Readonly<Record<string, string>> = {
  "the account": "update users set active = false where id = $1",
  "the role": "delete from role_assignments where principal_id = $1",
};
for (const [what, lose] of Object.entries(losses))
  test(`starts that wait are refused if the trigger's owner loses ${what} meanwhile, also the one that waits for the number`, async () => {
    const apiKey = await platform.addUser("_account_admin");
    const [owner] = await platform.db.query<{ id: string }>("select id from users order by id desc limit 1");
    const { webhookUrl } = await made(
      platform.send("POST", `/pipeline/api/triggers?${SCOPE}&targetIdentifier=deploy`, {
        ...{ contentType: YAML, body: triggerYaml("deploy", `of_${owner?.id.replaceAll("-", "")}`), apiKey },
      }),
    );
    const { pathname, search } = new URL(webhookUrl);
    const call = (): Promise<{ status: number }> =>
      platform.send("POST", pathname + search, { body: "{}", contentType: JSON_TYPE, apiKey: null });
    assert.equal((await call()).status, 200);
    const original = await eventually(async () => {
      const [row] = await platform.db.query<{ id: Uuid | null }>(
        "select execution_id as id from webhook_deliveries order by received_at desc, id desc limit 1",
      );
      return row?.id ? toWire(row.id) : undefined;
    });
    const [started, refused] = [await ended(), await ended("INVALID_RUNTIME_INPUT_YAML")];
    let rerun: Promise<Answer> | undefined;
    await platform.db.transaction(async (tx) => {
      await tx.query("select 1 from execution_sequences for update");
      for (let nth = 0; nth < 4; nth += 1) assert.equal((await call()).status, 200);
      await eventually(async () => (await waiting()) === 2 || undefined);
      // The administrator who repeats the execution loses nothing.
      rerun = platform.send("POST", `/pipeline/api/pipeline/execute/rerun/${original}/deploy?${SCOPE}`);
      await eventually(async () => (await waiting()) === 3 || undefined);
      await platform.db.query(lose, [owner?.id]);
      // Permissions may be a second old.
      platform.clock.advance(1_001);
    });
    await eventually(async () => (await ended("INVALID_RUNTIME_INPUT_YAML")) === refused + 4 || undefined);
    assert.equal(await ended(), started);
    const answer = await rerun;
    assert.equal(answer?.status, 403, answer?.text ?? "");
  });
