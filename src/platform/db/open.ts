/** Opens and migrates the server's database: the embedded one or the operator's own. */
import type { Log } from "../log/log.ts";
import type { Connection } from "./connection.ts";
import type { Db } from "./db.ts";
import { startEmbedded, type Embedded } from "./embedded/embedded.ts";
import type { DataDirLock } from "./embedded/files/lock.ts";
import { migrate, pendingMigrations } from "./migrations/migrate.ts";
import { MIGRATIONS, readMigrations } from "./migrations/migration-files.ts";
import { openDb } from "./pool/pool.ts";
import { retryUntilReachable, type RetryOptions } from "./reachable.ts";

export type Database = {
  readonly db: Db;
  /** Location of the data, for the start log. */
  readonly describe: string;
  readonly pendingMigrations: () => Promise<readonly string[]>;
  /** Closes the connections, then stops the embedded database. */
  readonly close: () => Promise<void>;
};

/** Time that open transactions may delay the end. */
const CLOSE_MS = 2_000;

/**
 * Starts the embedded database unless there is a `url`, and applies pending migrations. After an error nothing is left
 * running.
 */
export async function openDatabase(options: {
  url: string | undefined;
  lock: DataDirLock;
  log: Log;
  name?: string | undefined;
  /** Most connections, without the listening one. */
  connections?: number | undefined;
  /** For an external database that may start later than the server. */
  waiting?: RetryOptions;
}): Promise<Database> {
  const { url, lock, log, name, connections, waiting } = options;
  const embedded = url === undefined ? await startEmbedded({ lock, log }) : undefined;
  try {
    const connection: Connection = embedded?.connection ?? url ?? "";
    const bringUp = (): Promise<readonly string[]> => migrate(connection, MIGRATIONS, log);
    const applied =
      url === undefined || !waiting ? await bringUp() : await retryUntilReachable(url, { log, waiting }, bringUp);
    if (applied.length > 0) log.info({ applied: applied.length, last: applied.at(-1) }, "migrations applied");
    const migrations = await readMigrations(MIGRATIONS);
    const db = openDb({
      connection,
      name,
      ...(connections === undefined ? {} : { max: connections }),
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

async function close(db: Db, embedded: Embedded | undefined): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, CLOSE_MS)));
  await Promise.race([db.close(), late]);
  clearTimeout(timer);
  await embedded?.stop();
}
