/**
 * `npm run db -- schema` writes migrations/schema.sql; run it after adding a migration.
 * `npm run db -- psql-url` prints the URL of the running database for psql. The URL contains the password.
 * `npm run db -- migrate` applies the pending migrations. The server also applies them when it starts.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Problem } from "../src/core/problem.ts";
import { connectionUrl, type Connection } from "../src/platform/db/connection.ts";
import { startEmbedded } from "../src/platform/db/embedded/embedded.ts";
import { lockDataDir } from "../src/platform/db/embedded/files/lock.ts";
import { problem } from "../src/platform/db/embedded/problems.ts";
import { runningConnection } from "../src/platform/db/embedded/running.ts";
import { migrate } from "../src/platform/db/migrations/migrate.ts";
import { MIGRATIONS, SCHEMA_FILE } from "../src/platform/db/migrations/migration-files.ts";
import { openDb } from "../src/platform/db/pool/pool.ts";
import { dumpSchema } from "../src/platform/db/migrations/schema-dump.ts";

const log = { debug: () => {}, info: () => {}, warn: logToStderr, error: logToStderr };
const dataDir = resolve(process.env["RAILHEAD_DATA_DIR"] || ".railhead");

const COMMANDS: Readonly<Record<string, () => Promise<void>>> = {
  schema: writeSchema,
  "psql-url": printUrl,
  migrate: applyPending,
};

const command = COMMANDS[process.argv[2] ?? ""];
try {
  if (!command || process.argv.length > 3) throw new Error(`usage: npm run db -- ${Object.keys(COMMANDS).join("|")}`);
  await command();
} catch (error) {
  // The message of a Problem is enough; any other error is a bug and needs its stack.
  process.stderr.write(`${error instanceof Problem || !command ? (error as Error).message : (error as Error).stack}\n`);
  process.exitCode = 1;
}

function logToStderr(fields: object, message: string): void {
  // Driver errors refer to the connection and all statements, so only their message is logged.
  const text = JSON.stringify(fields, (_key, value: unknown) => (value instanceof Error ? value.message : value));
  process.stderr.write(`${message} ${text}\n`);
}

async function writeSchema(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "railhead-schema-"));
  const remove = (path: string): Promise<void> => rm(path, { recursive: true, force: true });
  try {
    // The database is outside of this folder if its user cannot access it; `remove` gets the actual location.
    await withEmbedded(folder, dumpMigrated, remove);
  } finally {
    await remove(folder);
  }
}

async function dumpMigrated(connection: Connection): Promise<void> {
  await migrate(connection, MIGRATIONS);
  const db = openDb({ connection, log, onError: () => {} });
  await writeFile(join(MIGRATIONS, SCHEMA_FILE), await dumpSchema(db.query));
  await db.close();
}

async function printUrl(): Promise<void> {
  const connection = process.env["DATABASE_URL"] || (await runningConnection(dataDir));
  if (!connection) throw problem("embedded.not_running", [dataDir]);
  process.stdout.write(`${connectionUrl(connection)}\n`);
}

async function applyPending(): Promise<void> {
  const running = process.env["DATABASE_URL"] || (await runningConnection(dataDir));
  if (running) await migrateAndReport(running);
  else await withEmbedded(dataDir, migrateAndReport);
}

async function migrateAndReport(connection: Connection): Promise<void> {
  const applied = await migrate(connection, MIGRATIONS);
  process.stdout.write(applied.length === 0 ? "The database is up to date.\n" : `Applied ${applied.join(", ")}.\n`);
}

async function withEmbedded(
  folder: string,
  work: (connection: Connection) => Promise<void>,
  done?: (location: string) => Promise<void>,
): Promise<void> {
  const lock = await lockDataDir(folder);
  try {
    const embedded = await startEmbedded({ lock, log });
    try {
      await work(embedded.connection);
    } finally {
      await embedded.stop();
      await done?.(embedded.location);
    }
  } finally {
    lock.release();
  }
}
