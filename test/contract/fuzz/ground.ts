/**
 * The target of generated requests: a server with an account full of resources, and another account that they must
 * not reach.
 */
import type { Agent } from "node:http";
import { toWire, type Uuid } from "../../../src/core/ids.ts";
import type { Db } from "../../../src/platform/db/db.ts";
import { connectorYaml, create, eventually, made, pipelineYaml, projectYaml } from "../../support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../support/platform.ts";
import { createWorld } from "../world.ts";
import { documentOf } from "./graphql.ts";
import type { Ground } from "./requests.ts";
import { keepAlive } from "./send.ts";
import { watchLog, watchUncaught, watchWrites, type WatchedLog, type WatchedWrites } from "./watch.ts";

/** Part of resources of the other account, and of no request. */
export const MARK = "only-for-the-other-account-4c1f";

export type Arena = {
  readonly platform: TestPlatform;
  readonly ground: Ground;
  readonly foreignUuid: string;
  readonly agent: Agent;
  readonly writes: WatchedWrites;
  readonly log: WatchedLog;
  readonly uncaught: ReturnType<typeof watchUncaught>;
  readonly stop: () => Promise<void>;
};

export async function openArena(): Promise<Arena> {
  const log = watchLog();
  const platform = await startTestPlatform({ logTo: log.to });
  const world = await createWorld(platform);
  const other = await platform.addAccount();
  const theirs = { ...platform, ...other, send: sendAs(platform, other) };
  await createWorld(theirs);
  const marked = `  description: ${MARK}\n`;
  await made(create.connector(theirs, connectorYaml("marked", marked)));
  await made(create.project(theirs, projectYaml("marked", marked)));
  await made(create.pipeline(theirs, pipelineYaml("marked", MARK, marked)));
  await webhooksDone(platform.db);
  const words = await wordsOf(platform.db);
  const uuids = await platform.db.query<{ id: Uuid }>(`select id from accounts`);
  const foreignUuid = uuids.find(({ id }) => toWire(id) === other.accountId)?.id ?? "";
  const writes = await watchWrites(platform.db);
  const [agent, uncaught] = [keepAlive(), watchUncaught()];
  const own = words.filter(({ accountId }) => accountId !== foreignUuid).map(({ word }) => word);
  const theirIds = words.filter(({ accountId, isId }) => isId && accountId === foreignUuid).map(({ word }) => word);
  // The built-in secret manager has the id of its account, which requests name.
  const ids = [...new Set(theirIds)].filter((id) => id !== other.accountId);
  return {
    platform,
    ground: {
      world,
      accountId: platform.accountId,
      apiKey: platform.apiKey,
      words: [...new Set([...WORDS, ...own])],
      foreign: ids.filter((_id, at) => at % 2 === 0),
      hidden: ids.filter((_id, at) => at % 2 === 1),
      foreignAccount: other.accountId,
      documents: documentOf,
    },
    foreignUuid,
    agent,
    writes,
    log,
    uncaught,
    async stop() {
      agent.destroy();
      uncaught.stop();
      await platform.stop();
    },
  };
}

/** Waits for the processing of webhooks, so that its writes are not counted for a later request. */
export async function webhooksDone(db: Db): Promise<void> {
  await eventually(async () => {
    const waiting = await db.query(`select from webhook_deliveries where processed_at is null limit 1`);
    return waiting.length === 0 ? true : undefined;
  });
}

const WORDS = ["default", "shop", "deploy", "web", "staging", "registry", "cluster", "hook", "build-1", "linux", "CD"];

function sendAs(on: TestPlatform, { accountId, apiKey }: { accountId: string; apiKey: string }): TestPlatform["send"] {
  return (method, path, how) => on.send(method, path, { apiKey, account: accountId, ...how });
}

type Word = { readonly accountId: string; readonly word: string; readonly isId: boolean };

/**
 * Returns ids and identifying words of all resources. Mark sets are left out: equal sets of two accounts have the same
 * id, and no response contains it.
 */
async function wordsOf(db: Db): Promise<readonly Word[]> {
  const columns = await db.query<{ table: string; column: string }>(
    `select quote_ident(c.table_name) as table, quote_ident(c.column_name) as column
       from information_schema.columns c
      where c.table_schema = 'public' and c.column_name in ('id', 'identifier', 'name')
        and c.table_name not in ('accounts', 'tokens', 'audit_entries', 'execution_mark_sets')
        and exists (select from information_schema.columns a
                     where a.table_schema = 'public' and a.table_name = c.table_name and a.column_name = 'account_id')
      order by 1, 2`,
  );
  const words: Word[] = [];
  for (const { table, column } of columns) {
    const rows = await db.query<{ accountId: string; word: string }>(
      `select account_id as "accountId", ${column}::text as word from ${table} order by 1, 2 limit 100`,
    );
    const isId = column === "id";
    words.push(...rows.map((row) => ({ ...row, isId, word: isId ? toWire(row.word as Uuid) : row.word })));
  }
  return words;
}
