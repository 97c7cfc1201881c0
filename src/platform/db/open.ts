/** The database of a server: the embedded one or the operator's own, migrated and open. */
import { Problem } from "../../core/problem.ts";
import { ConfigError } from "../config/config.ts";
import type { Log } from "../log/log.ts";
import type { Connection } from "./connection.ts";
import type { Db } from "./db.ts";
import { startEmbedded, type Embedded } from "./embedded/embedded.ts";
import type { DataDirLock } from "./embedded/lock.ts";
import { migrate, pendingMigrations } from "./migrate.ts";
import { MIGRATIONS, readMigrations } from "./migration-files.ts";
import { openDb } from "./pool.ts";

export type Database = {
  readonly db: Db;
  /** For the start log: where the data lies. */
  readonly describe: string;
  readonly pendingMigrations: () => Promise<readonly string[]>;
  /** Lets go of the connections, then stops the embedded database. */
  readonly close: () => Promise<void>;
};

/** How long open transactions may hold up the end. */
const CLOSE_MS = 2_000;

export async function openDatabase(options: {
  url: string | undefined;
  lock: DataDirLock;
  log: Log;
  name?: string | undefined;
}): Promise<Database> {
  const { url, lock, log, name } = options;
  const embedded = url === undefined ? await startEmbedded({ lock, log }) : undefined;
  try {
    const connection: Connection = embedded?.connection ?? url ?? "";
    const applied = await migrate(connection, MIGRATIONS, log).catch((error: unknown) => {
      throw (url === undefined ? undefined : unreachable(error)) ?? error;
    });
    if (applied.length > 0) log.info({ applied: applied.length, last: applied.at(-1) }, "migrations applied");
    const migrations = await readMigrations(MIGRATIONS);
    const db = openDb({
      connection,
      name,
      log,
      onError: (error) => log.error({ err: error }, "a hook of the database failed"),
    });
    return {
      db,
      describe: embedded
        ? `embedded PostgreSQL in ${embedded.location}, run by ${embedded.account.name}`
        : "the PostgreSQL of DATABASE_URL",
      pendingMigrations: () => pendingMigrations(db, migrations),
      close: () => close(db, embedded),
    };
  } catch (error) {
    await embedded?.stop();
    throw error;
  }
}

/** The operator has to know which value is wrong, and what the driver says; the address itself may hold a password. */
function unreachable(error: unknown): ConfigError | undefined {
  if (!(error instanceof Problem) || !["db.unavailable", "db.refused", "db.busy"].includes(error.code))
    return undefined;
  const why = error.cause instanceof Error ? error.cause.message : error.message;
  return new ConfigError([`The database of DATABASE_URL cannot be used: ${why}.`]);
}

async function close(db: Db, embedded: Embedded | undefined): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, CLOSE_MS)));
  await Promise.race([db.close(), late]);
  clearTimeout(timer);
  await embedded?.stop();
}
