/**
 * Brings a database to the schema of this program: numbered SQL files, forward only.
 *
 * 1. Read and check the folder and the requirements of the database. 2. Take the advisory lock: of two servers that
 * start at once, one waits. 3. Compare the recorded files with the folder; any difference other than pending files is
 * an error. 4. Apply each pending file in one transaction, which records the file first. 5. Store statistics of new
 * tables.
 */
import { Client } from "pg";
import { clientConfig, type Connection } from "../connection.ts";
import type { Db, DbLog } from "../db.ts";
import { migrationProblem } from "./migration-problems.ts";
import { databaseProblem, problem } from "../problems.ts";
import { requireSuitableDatabase } from "./database-requirements.ts";
import { readMigrations, type Migration } from "./migration-files.ts";
import { seedStatistics } from "./statistics.ts";

/** The key of the advisory lock: "railhead" in ASCII, so that no other program uses it by chance. */
const LOCK = "8241984707393577316";

type Recorded = { readonly number: number; readonly name: string; readonly sha256: string };

/**
 * Applies the pending files of `folder` and returns their names. Rejects with a Problem `migration.*` or `db.*`, or
 * with the database's error, whose message then begins with the file's name.
 */
export async function migrate(connection: Connection, folder: string, log?: DbLog): Promise<readonly string[]> {
  const migrations = await readMigrations(folder);
  // No time limit: a migration of a large table can take long, and its lock may have to wait.
  const client = new Client({ ...clientConfig(connection), statement_timeout: 0 });
  client.on("error", () => {}); // the statement under way rejects
  await client.connect().catch((error: unknown) => {
    // An error that is not the network's is one of the address: its certificate, its password, its name.
    throw databaseProblem(error) ?? problem("db.refused", [], { cause: error });
  });
  try {
    await requireSuitableDatabase(client);
    await client.query(`select pg_advisory_lock(${LOCK})`);
    await client.query(TABLE);
    const { rows } = await client.query<Recorded>(RECORDED);
    const pending = compare(migrations, rows);
    for (const migration of pending) {
      await apply(client, migration);
      log?.debug({ migration: migration.name }, "migration applied");
    }
    if (pending.length > 0) await seedStatistics(client);
    return pending.map(({ name }) => name);
  } finally {
    await client.end(); // which also frees the lock
  }
}

/** Lists the files in `migrations` that the database lacks. Rejects like `migrate` when the two do not match. */
export async function pendingMigrations(
  db: Pick<Db, "query">,
  migrations: readonly Migration[],
): Promise<readonly string[]> {
  const [table] = await db.query<{ known: boolean }>("select to_regclass('schema_migrations') is not null as known");
  const recorded = table?.known ? await db.query<Recorded>(RECORDED) : [];
  return compare(migrations, recorded).map(({ name }) => name);
}

const TABLE = `create table if not exists schema_migrations (
  number int primary key,
  name text not null,
  sha256 text not null,
  applied_at timestamptz not null default now()
)`;

const RECORDED = "select number, name, sha256 from schema_migrations order by number";

/** Lists the files to apply. Throws unless the recorded files are exactly the first ones of the folder. */
function compare(migrations: readonly Migration[], recorded: readonly Recorded[]): readonly Migration[] {
  for (const [index, { number, name, sha256 }] of recorded.entries()) {
    const ours = migrations[index];
    if (number > migrations.length) throw migrationProblem("migration.newer_database", [name]);
    if (ours?.name !== name) throw migrationProblem("migration.missing", [name]);
    if (ours.sha256 !== sha256) throw migrationProblem("migration.changed", [name]);
  }
  return migrations.slice(recorded.length);
}

async function apply(client: Client, { number, name, sha256, sql }: Migration): Promise<void> {
  await client.query("begin");
  try {
    await client.query("insert into schema_migrations (number, name, sha256) values ($1, $2, $3)", [
      number,
      name,
      sha256,
    ]);
    await client.query(sql);
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch(() => {}); // a lost connection has rolled back by itself
    if (error instanceof Error && !databaseProblem(error)) error.message = `${name}: ${error.message}`;
    throw error;
  }
}
