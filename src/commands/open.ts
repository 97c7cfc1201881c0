/**
 * What the operator's commands stand on (`railhead admin …`, `railhead audit …`, `railhead secrets …`): the server's
 * configuration and database, on the server's machine, with the rights of whoever may read its data directory.
 *
 * 1. DATABASE_URL, if it is set. 2. The embedded database of a server that runs, over its socket. 3. The embedded one,
 * started for as long as the command takes; the data directory is locked meanwhile, so that no server starts beside it.
 */
import { randomUUIDv7 } from "node:crypto";
import { existsSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import type { Clock } from "../core/clock.ts";
import type { NewId, Uuid } from "../core/ids.ts";
import { Problem } from "../core/problem.ts";
import { loadRootKeys, readConfig, type Config } from "../platform/config/config.ts";
import type { KeyRing } from "../platform/crypto/key-ring.ts";
import { readDatabaseClock } from "../platform/db/clock.ts";
import type { Connection } from "../platform/db/connection.ts";
import type { Db } from "../platform/db/db.ts";
import { holderOf, lockDataDir, type DataDirLock } from "../platform/db/embedded/lock.ts";
import { findPlace } from "../platform/db/embedded/place.ts";
import { runningConnection } from "../platform/db/embedded/running.ts";
import { pendingMigrations } from "../platform/db/migrate.ts";
import { MIGRATIONS, readMigrations } from "../platform/db/migration-files.ts";
import { openDatabase } from "../platform/db/open.ts";
import { openDb } from "../platform/db/pool.ts";
import { createLog, type Log } from "../platform/log/log.ts";
import { problem } from "./problems.ts";
import { ping } from "./store.ts";

export type Opened = {
  readonly db: Db;
  readonly config: Config;
  readonly keys: KeyRing;
  readonly log: Log;
  readonly clock: Clock;
  readonly newId: NewId;
  /** Lets go of the database; stops it, if this command has started it. */
  readonly close: () => Promise<void>;
};

/** Throws ConfigError, `command.*` and the database's own problems, all in words for the operator. */
export async function openForCommand(env: NodeJS.ProcessEnv = process.env, cwd = process.cwd()): Promise<Opened> {
  const config = readConfig(env, cwd);
  // What a server tells whoever watches it is none of the command's answer.
  const log = createLog(env["RAILHEAD_LOG_LEVEL"] ? config.logLevel : "error");
  if (config.databaseUrl === undefined && !(await findPlace(config.dataDir).catch(() => undefined)))
    throw problem("command.no_database", [config.dataDir]);
  const keys = await existingRootKeys(config);
  const { db, close } = await openIt(config, log);
  try {
    return { db, config, keys, log, clock: await readDatabaseClock(db), newId: () => randomUUIDv7() as Uuid, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A command never makes a key: one that nothing was sealed with would be of no use. */
function existingRootKeys(config: Config): Promise<KeyRing> {
  if (config.rootKey.kind === "file" && !existsSync(config.rootKey.path))
    throw problem("command.no_root_key", [config.rootKey.path]);
  return loadRootKeys(config);
}

type Open = Pick<Opened, "db" | "close">;

async function openIt(config: Config, log: Log): Promise<Open> {
  if (config.databaseUrl !== undefined) return connect(config.databaseUrl, log);
  const found = await lockOrConnection(config.dataDir);
  if (!("release" in found)) return connect(found, log);
  try {
    const { db, close } = await openDatabase({ url: undefined, lock: found, log });
    return { db, close: () => close().finally(found.release) };
  } catch (error) {
    found.release();
    throw error;
  }
}

/** A server that starts or ends, and a command, have locked the directory for a while. */
const PATIENCE_MS = 30_000;
const ASKED_EVERY_MS = 250;

async function lockOrConnection(dataDir: string): Promise<DataDirLock | Exclude<Connection, string>> {
  for (let waited = 0; ; waited += ASKED_EVERY_MS) {
    try {
      return await lockDataDir(dataDir, "command");
    } catch (error) {
      const locked = error instanceof Problem && error.code === "embedded.locked";
      if (!locked || waited >= PATIENCE_MS) throw error;
    }
    // Another command's database ends with that command, in the middle of our work: it is waited for.
    const byServer = (await holderOf(await realpath(dataDir)))?.kind === "server";
    const running = byServer ? await runningConnection(dataDir) : undefined;
    if (running && (await answers(running))) return running;
    await pause(ASKED_EVERY_MS);
  }
}

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** Whether it takes connections: that of a server which starts or ends does not. */
async function answers(connection: Connection): Promise<boolean> {
  const db = openDb({ connection, log: quiet, onError: () => {} });
  try {
    await ping(db);
    return true;
  } catch {
    return false;
  } finally {
    await db.close();
  }
}

/** A database that others use: its schema is theirs, and is not changed from here. */
async function connect(connection: Connection, log: Log): Promise<Open> {
  const db = openDb({
    connection,
    log,
    onError: (error) => log.error({ err: error }, "a hook of the database failed"),
  });
  try {
    const pending = await pendingMigrations(db, await readMigrations(MIGRATIONS));
    if (pending.length > 0) throw problem("command.other_schema", [pending.join(", ")]);
    return { db, close: () => db.close() };
  } catch (error) {
    await db.close();
    throw error;
  }
}
