/**
 * Opens the server's configuration and database for the operator's commands (`railhead admin …`, `railhead audit …`,
 * `railhead secrets …`). They run on the server's machine, as a user who may read its data directory.
 *
 * The database is 1. DATABASE_URL, if it is set; 2. the embedded database of a running server, over its socket; 3. the
 * embedded database, started for the duration of the command. The data directory is locked meanwhile, so that no server
 * starts.
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
import { findLockHolder, lockDataDir, type DataDirLock } from "../platform/db/embedded/files/lock.ts";
import { findDatabaseFolders } from "../platform/db/embedded/files/folders.ts";
import { runningConnection } from "../platform/db/embedded/running.ts";
import { pendingMigrations } from "../platform/db/migrations/migrate.ts";
import { MIGRATIONS, readMigrations } from "../platform/db/migrations/migration-files.ts";
import { openDatabase } from "../platform/db/open.ts";
import { openDb } from "../platform/db/pool/pool.ts";
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
  /** Closes the connections; stops the database if this command has started it. */
  readonly close: () => Promise<void>;
};

/** Throws ConfigError, `command.*` and problems of the database; the operator can solve each of them. */
export async function openForCommand(env: NodeJS.ProcessEnv = process.env, cwd = process.cwd()): Promise<Opened> {
  const config = readConfig(env, cwd);
  // The informational log lines of a server do not belong into the output of a command.
  const log = createLog(env["RAILHEAD_LOG_LEVEL"] ? config.logLevel : "error");
  if (config.databaseUrl === undefined && !(await findDatabaseFolders(config.dataDir).catch(() => undefined)))
    throw problem("command.no_database", [config.dataDir]);
  const keys = await existingRootKeys(config);
  const { db, close } = await openEither(config, log);
  try {
    return { db, config, keys, log, clock: await readDatabaseClock(db), newId: () => randomUUIDv7() as Uuid, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A command never generates a root key: nothing would be sealed under it. */
function existingRootKeys(config: Config): Promise<KeyRing> {
  if (config.rootKey.kind === "file" && !existsSync(config.rootKey.path))
    throw problem("command.no_root_key", [config.rootKey.path]);
  return loadRootKeys(config);
}

type Open = Pick<Opened, "db" | "close">;

async function openEither(config: Config, log: Log): Promise<Open> {
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

/** A server that starts or stops, or another command, holds the lock only for a while. */
const LOCK_TIMEOUT_MS = 30_000;
const POLL_MS = 250;

async function lockOrConnection(dataDir: string): Promise<DataDirLock | Exclude<Connection, string>> {
  for (let waited = 0; ; waited += POLL_MS) {
    try {
      return await lockDataDir(dataDir, "command");
    } catch (error) {
      const locked = error instanceof Problem && error.code === "embedded.locked";
      if (!locked || waited >= LOCK_TIMEOUT_MS) throw error;
    }
    // The database of another command stops with that command, so this command waits for its end.
    const byServer = (await findLockHolder(await realpath(dataDir)))?.kind === "server";
    const running = byServer ? await runningConnection(dataDir) : undefined;
    if (running && (await isReachable(running))) return running;
    await pause(POLL_MS);
  }
}

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** Whether the database accepts connections. While its server starts or stops, it does not. */
async function isReachable(connection: Connection): Promise<boolean> {
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

/** Connects to a database that servers use. Commands do not migrate it. */
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
