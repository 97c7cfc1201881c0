import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { MIGRATIONS, SCHEMA_FILE } from "../../../src/platform/db/migrations/migration-files.ts";
import { dumpSchema } from "../../../src/platform/db/migrations/schema-dump.ts";
import { freshDatabase } from "../../support/database.ts";

const { db, drop } = await freshDatabase();
after(drop);

test("migrations/schema.sql equals the schema after all migrations", async () => {
  const written = await readFile(join(MIGRATIONS, SCHEMA_FILE), "utf8");
  assert.equal(written, await dumpSchema(db.query), "Run `npm run db -- schema` and look at the difference.");
});

test("a schema change shows in the dump", async () => {
  const before = await dumpSchema(db.query);
  await db.query("create table planted (id int primary key)");
  try {
    assert.notEqual(await dumpSchema(db.query), before);
  } finally {
    await db.query("drop table planted");
  }
});
