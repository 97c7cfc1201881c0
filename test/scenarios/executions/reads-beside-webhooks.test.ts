/** Reads are answered while webhooks use all connections that intake may use. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client } from "pg";
import { clientConfig } from "../../../src/platform/db/connection.ts";
import { createClient } from "../../support/clients/client.ts";
import { databaseByAddress } from "../../support/database.ts";
import { pipelineOf, step } from "../../support/clients/pipeline.ts";
import {
  createServerFolder,
  readFacts,
  startServer,
  type ServerFolder,
} from "../../support/processes/server-process.ts";
import { until } from "../../support/until.ts";

const WEBHOOKS = 30;
let folder: ServerFolder;
let database: Awaited<ReturnType<typeof databaseByAddress>>;

before(async () => {
  [folder, database] = await Promise.all([createServerFolder(), databaseByAddress("migrated")]);
});
after(async () => {
  await folder?.remove();
  await database?.drop();
});

test("webhooks that wait for a lock do not block reads", async () => {
  const env = { DATABASE_URL: database.url, RAILHEAD_LOCAL_DELEGATE: "off", RAILHEAD_DATABASE_CONNECTIONS: "6" };
  const server = await startServer(folder, env);
  const blocker = new Client(clientConfig(database.url));
  // A separate connection: inside a transaction the statistics do not change after the first read.
  const look = new Client(clientConfig(database.url));
  await Promise.all([blocker.connect(), look.connect()]);
  try {
    const client = createClient(await readFacts(folder));
    await client.makeProject();
    await client.makePipeline(pipelineOf("called", step("say", "echo hello")));
    const webhook = await client.makeWebhook("called");
    // The first call of a webhook waits among unauthenticated senders, further ones in the share of intake.
    assert.equal((await fetch(webhook, { method: "POST", body: "{}" })).status, 200);
    await blocker.query("begin; lock table triggers in access exclusive mode");
    const calls = Array.from({ length: WEBHOOKS }, () => fetch(webhook, { method: "POST", body: "{}" }));
    await until(
      async () => {
        const { rows } = await look.query<{ waiting: number }>(
          "select count(*)::int as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        );
        return rows[0]?.waiting ?? 0;
      },
      // Intake may use half of six connections. The sweep of deliveries is intake, too.
      (waiting) => waiting >= 3,
    );
    assert.deepEqual(await client.graphql("{ applications(limit: 1) { nodes { name } } }"), {
      applications: { nodes: [{ name: "Shop" }] },
    });
    await blocker.query("rollback");
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    assert.deepEqual(new Set(statuses), new Set([200]));
  } finally {
    await Promise.all([blocker.end(), look.end()]);
    await server.end("SIGTERM");
  }
});
