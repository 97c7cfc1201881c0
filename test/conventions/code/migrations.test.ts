import { test } from "node:test";
import { MIGRATIONS, readMigrations } from "../../../src/platform/db/migrations/migration-files.ts";

test("the migrations can be read: numbered without gaps and duplicates, with their headers", async () => {
  await readMigrations(MIGRATIONS);
});
