/** The runs that stored executions are copies of. */
import { setTimeout as rest } from "node:timers/promises";
import type { Client as Database } from "pg";
import { createClient } from "./client.ts";
import { createPipeline, createProject, execute } from "./pipelines.ts";
import type { Server } from "./server.ts";

const RUNS = [
  ["good", "echo done"],
  ["bad", "exit 3"],
] as const;
const POLL_MS = 20;
const UNREACHABLE_LIMIT = "10000000";

/** Runs a pipeline that succeeds and one that fails, and waits until both have ended. */
export async function runTemplates(server: Server, database: Database, signal: AbortSignal): Promise<void> {
  const client = createClient(server.facts, 2, signal);
  // The limits still count requests, but refuse none.
  await client.set({ requests_per_minute_account: UNREACHABLE_LIMIT, requests_per_minute_token: UNREACHABLE_LIMIT });
  await createProject(client);
  for (const [name, script] of RUNS) await execute(client, await createPipeline(client, name, 1, script));
  client.close();
  for (;;) {
    const { rowCount } = await database.query("select id from executions where ended_at is not null");
    if (rowCount === RUNS.length) return;
    await rest(POLL_MS, undefined, { signal });
  }
}
