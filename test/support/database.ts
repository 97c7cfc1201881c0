/**
 * Creates a database for a test file from the migrated template in milliseconds. scripts/test.ts starts the server and
 * passes its connection in an environment variable.
 */
import { basename } from "node:path";
import { Client, escapeIdentifier, escapeLiteral, type ClientConfig } from "pg";
import { clientConfig, connectionUrl } from "../../src/platform/db/connection.ts";
import type { Db, DbLog } from "../../src/platform/db/db.ts";
import { openDb, type DbOptions } from "../../src/platform/db/pool/pool.ts";

/** Name of the environment variable with a TestServer as JSON. */
export const TEST_SERVER = "RAILHEAD_TEST_SERVER";

export type TestServer = {
  /** Connects to the administrative database as a role that may create databases. */
  readonly connection: ClientConfig;
  readonly template: string;
  /** Keeps the databases after the tests, so that a failure can be examined. */
  readonly keep: boolean;
};

export type TestDatabase = {
  readonly db: Db;
  readonly connection: ClientConfig;
  readonly name: string;
  /** Closes the connections and drops the database. Rejects with the first error that no caller has received. */
  readonly drop: () => Promise<void>;
};

export const silentLog: DbLog = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

let made = 0;

export async function freshDatabase(options: Partial<Omit<DbOptions, "connection">> = {}): Promise<TestDatabase> {
  const server = testServer();
  const name = await createDatabase(server, server.template);
  const connection = { ...server.connection, database: name };
  const unheard: unknown[] = [];
  const db = openDb({ connection, log: silentLog, onError: (error) => unheard.push(error), ...options });
  return {
    db,
    connection,
    name,
    drop: async () => {
      await db.close();
      await dropDatabase(server, name);
      if (unheard.length > 0) throw unheard[0];
    },
  };
}

/** Creates a database for programs under test; `url` is for DATABASE_URL. With `empty` it has no tables. */
export async function databaseByAddress(
  content: "migrated" | "empty",
): Promise<{ readonly url: string; readonly drop: () => Promise<void> }> {
  const server = testServer();
  const name = await createDatabase(server, content === "empty" ? "template0" : server.template);
  const url = connectionUrl({ ...server.connection, database: name });
  return { url, drop: () => dropDatabase(server, name) };
}

async function createDatabase(server: TestServer, template: string): Promise<string> {
  const file = basename(process.argv[1] ?? "test", ".test.ts");
  // The process id distinguishes test files with the same name that run at the same time.
  const name = `${file.replace(/\W/g, "_").slice(0, 40)}_${process.pid}_${(made += 1)}`;
  await administer(server, [
    `create database ${escapeIdentifier(name)} template ${escapeIdentifier(template)}`,
    `comment on database ${escapeIdentifier(name)} is ${escapeLiteral(process.argv[1] ?? "")}`,
  ]);
  return name;
}

const NOT_OURS_TO_END = "42501";

async function dropDatabase(server: TestServer, name: string): Promise<void> {
  if (server.keep) return;
  const drop = `drop database if exists ${escapeIdentifier(name)}`;
  try {
    await administer(server, [`${drop} with (force)`]);
  } catch (error) {
    if ((error as { code?: unknown }).code !== NOT_OURS_TO_END) throw error;
    // Autovacuum works in this database. Only the statement without FORCE may end it.
    await administer(server, [drop]);
  }
}

/** Returns the server that scripts/test.ts has started. Throws if there is none. */
export function testServer(): TestServer {
  const text = process.env[TEST_SERVER];
  if (text) return JSON.parse(text) as TestServer;
  throw new Error("This test needs a database. Run it with: npm test -- <file> [-t <name>]");
}

async function administer(server: TestServer, statements: readonly string[]): Promise<void> {
  const client = new Client(clientConfig(server.connection));
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}
