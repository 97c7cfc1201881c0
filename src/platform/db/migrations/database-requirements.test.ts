import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "pg";
import { freshDatabase } from "../../../../test/support/database.ts";
import { clientConfig } from "../connection.ts";
import { requireSuitableDatabase } from "./database-requirements.ts";

test("a server that is older than needed is named with its version and what is needed", async (t) => {
  const { connection, drop } = await freshDatabase();
  const client = new Client(clientConfig(connection));
  await client.connect();
  t.after(async () => {
    await client.end();
    await drop();
  });
  await requireSuitableDatabase(client);
  await assert.rejects(requireSuitableDatabase(client, 990_000), {
    code: "migration.unsuitable_database",
    message:
      /^The database of DATABASE_URL is PostgreSQL 18[.\d]* with the encoding UTF8; Railhead needs PostgreSQL 99 or newer/,
  });
});

test("PostgreSQL 17 is refused; the answer of the server is simulated", async () => {
  const facts = { number: 170_006, version: "17.6 (Debian 17.6-1)", encoding: "UTF8" };
  const client = { query: async () => ({ rows: [facts] }) } as unknown as Pick<Client, "query">;
  await assert.rejects(requireSuitableDatabase(client), {
    code: "migration.unsuitable_database",
    message: /^The database of DATABASE_URL is PostgreSQL 17\.6 with .*; Railhead needs PostgreSQL 18 or newer/,
  });
});
