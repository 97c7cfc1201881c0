import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "pg";
import { freshDatabase } from "../../../test/support/database.ts";
import { clientConfig } from "./connection.ts";
import { requireSuitable } from "./suitable.ts";

test("a server that is older than needed is named with its version and what is needed", async (t) => {
  const { connection, drop } = await freshDatabase();
  const client = new Client(clientConfig(connection));
  await client.connect();
  t.after(async () => {
    await client.end();
    await drop();
  });
  await requireSuitable(client);
  await assert.rejects(requireSuitable(client, 990_000), {
    code: "migration.unsuitable_database",
    message:
      /^The database of DATABASE_URL is PostgreSQL 18[.\d]* with the encoding UTF8; Railhead needs PostgreSQL 99 or newer/,
  });
});
