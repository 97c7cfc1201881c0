/** Starts of one pipeline wait for its run number. Other requests are answered and webhooks accepted meanwhile. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  connectorYaml,
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
import { silentLog } from "../../../test/support/database.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";
import { toWire, type Uuid } from "../../core/ids.ts";
import type { Db } from "../../platform/db/db.ts";
import { openDb } from "../../platform/db/pool/pool.ts";

const STARTS = 10;
/** Transactions of one pipeline at once. */
const MOST = 2;

let platform: TestPlatform;
/** Connections apart from those of the server. */
let apart: Db;
let otherKey: string;
before(async () => {
  platform = await startTestPlatform();
  const { connection } = platform.database;
  apart = openDb({ connection, log: silentLog, onError: (error) => assert.fail(String(error)) });
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
  await made(create.pipeline(platform, pipelineYaml("deploy")));
  otherKey = await platform.addUser("_account_admin");
  // Creates the row of the run number.
  await made(create.run(platform, "deploy"));
});
after(async () => {
  await apart?.close();
  await platform?.stop();
});

/** Database sessions that wait for the run number. */
const waiting = async (): Promise<number> => {
  const [row] = await apart.query<{ n: number }>(
    `select count(*) as n from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%execution_sequences%'`,
  );
  return row?.n ?? -1;
};

const ended = async (status = "TARGET_EXECUTION_REQUESTED"): Promise<number> => {
  const [row] = await apart.query<{ n: number }>("select count(*) as n from webhook_deliveries where status = $1", [
    status,
  ]);
  return row?.n ?? -1;
};

/** Calls the webhook of a trigger. */
const callerOf = ({ webhookUrl }: { readonly webhookUrl: string }): (() => Promise<Answer>) => {
  const { pathname, search } = new URL(webhookUrl);
  return () => platform.send("POST", pathname + search, { body: "{}", contentType: JSON_TYPE, apiKey: null });
};

/** Runs `work` while the run number is locked and as many starts as possible wait for it. */
async function whileLocked(
  start: () => Promise<Answer>,
  work: () => Promise<void>,
  most = MOST,
): Promise<readonly Answer[]> {
  let answers: Promise<Answer[]> | undefined;
  await apart.transaction(async (tx) => {
    await tx.query("select 1 from execution_sequences for update");
    answers = Promise.all(Array.from({ length: STARTS }, start));
    await eventually(async () => (await waiting()) >= MOST || undefined);
    await work();
    assert.ok((await waiting()) <= most);
  });
  return (await answers) ?? [];
}

test("starts by hand that wait for the run number leave connections for another caller", async () => {
  const answers = await whileLocked(
    () => create.run(platform, "deploy"),
    async () => {
      for (let nth = 0; nth < STARTS; nth += 1) {
        await made(platform.send("GET", `/ng/api/connectors/cluster?${SCOPE}`, { apiKey: otherKey }));
        const body = connectorYaml(`registry${nth}`);
        await made(platform.send("POST", "/ng/api/connectors", { apiKey: otherKey, contentType: "text/yaml", body }));
      }
    },
  );
  for (const { status, text } of answers) assert.equal(status, 200, text);
});

test("webhooks and starts by hand of a pipeline wait in a line each", async () => {
  const call = callerOf(await made(create.trigger(platform, "deploy", triggerYaml("deploy", "deploy"))));
  await whileLocked(
    () => create.run(platform, "deploy"),
    async () => {
      for (let nth = 0; nth < STARTS; nth += 1) assert.equal((await call()).status, 200);
      // The starts by hand do not keep those of the webhooks waiting.
      await eventually(async () => (await waiting()) > MOST || undefined);
    },
    2 * MOST,
  );
  await eventually(async () => (await ended()) === STARTS || undefined);
});

const losses: Readonly<Record<string, string>> = {
  "the account": "update users set active = false where id = $1",
  "the role": "delete from role_assignments where principal_id = $1",
};
for (const [what, lose] of Object.entries(losses))
  test(`starts that wait are refused if the trigger's owner loses ${what} meanwhile, also the one that waits for the number`, async () => {
    const apiKey = await platform.addUser("_account_admin");
    const [owner] = await apart.query<{ id: string }>("select id from users order by id desc limit 1");
    const call = callerOf(
      await made(
        platform.send("POST", `/pipeline/api/triggers?${SCOPE}&targetIdentifier=deploy`, {
          ...{ contentType: YAML, body: triggerYaml("deploy", `of_${owner?.id.replaceAll("-", "")}`), apiKey },
        }),
      ),
    );
    assert.equal((await call()).status, 200);
    const original = await eventually(async () => {
      const [row] = await apart.query<{ id: Uuid | null }>(
        "select execution_id as id from webhook_deliveries order by received_at desc, id desc limit 1",
      );
      return row?.id ? toWire(row.id) : undefined;
    });
    const [started, refused] = [await ended(), await ended("INVALID_RUNTIME_INPUT_YAML")];
    let rerun: Promise<Answer> | undefined;
    await apart.transaction(async (tx) => {
      await tx.query("select 1 from execution_sequences for update");
      for (let nth = 0; nth < 4; nth += 1) assert.equal((await call()).status, 200);
      await eventually(async () => (await waiting()) === MOST || undefined);
      // The administrator who repeats the execution loses nothing.
      rerun = platform.send("POST", `/pipeline/api/pipeline/execute/rerun/${original}/deploy?${SCOPE}`);
      await eventually(async () => (await waiting()) === MOST + 1 || undefined);
      await apart.query(lose, [owner?.id]);
      // Permissions may be a second old.
      platform.clock.advance(1_001);
    });
    await eventually(async () => (await ended("INVALID_RUNTIME_INPUT_YAML")) === refused + 4 || undefined);
    assert.equal(await ended(), started);
    const answer = await rerun;
    assert.equal(answer?.status, 403, answer?.text ?? "");
  });
