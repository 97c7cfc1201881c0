/** Starts of one pipeline wait for its run number. Other requests are answered meanwhile. */
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
} from "../../../test/support/contract.ts";
import { silentLog } from "../../../test/support/database.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";
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
  const { webhookUrl } = await made(create.trigger(platform, "deploy", triggerYaml("deploy", "deploy")));
  const { pathname, search } = new URL(webhookUrl);
  const call = (): Promise<Answer> =>
    platform.send("POST", pathname + search, { body: "{}", contentType: JSON_TYPE, apiKey: null });
  await whileLocked(
    () => create.run(platform, "deploy"),
    async () => {
      for (let nth = 0; nth < STARTS; nth += 1) assert.equal((await call()).status, 200);
      // The starts by hand do not keep those of the webhooks waiting.
      await eventually(async () => (await waiting()) > MOST || undefined);
    },
    2 * MOST,
  );
  await eventually(async () => {
    const [row] = await apart.query<{ n: number }>(
      "select count(*) as n from webhook_deliveries where status = 'TARGET_EXECUTION_REQUESTED'",
    );
    return row?.n === STARTS || undefined;
  });
});
