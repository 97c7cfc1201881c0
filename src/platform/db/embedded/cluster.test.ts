import assert from "node:assert/strict";
import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import {
  killProcess,
  runModule,
  serverModule,
  startDatabase,
  temporaryFolder,
} from "../../../../test/support/processes/embedded.ts";
import { silentLog } from "../../../../test/support/database.ts";
import { openDb } from "../pool/pool.ts";

const folder = await temporaryFolder();
after(folder.remove);
const dataDir = join(folder.path, "data");
const root = join(dataDir, "postgres");
const cluster = join(root, "data");

const refused = (code: string, words: RegExp) => (error: unknown) =>
  (error as { code?: unknown }).code === code && words.test(String(error));

test("a making of the database that was killed half way is begun anew", async () => {
  const server = runModule(serverModule(dataDir));
  await server.line(/^making the database$/);
  await killProcess(server.child);
  assert.ok(
    (await readdir(root)).some((name) => name.startsWith("data.new")),
    "it was killed in the middle",
  );
  const embedded = await startDatabase(dataDir);
  const db = openDb({ connection: embedded.connection, log: silentLog, onError: () => {} });
  assert.deepEqual(await db.query("select 1 as one"), [{ one: 1 }]);
  await db.close();
  await embedded.stop();
  assert.deepEqual((await readdir(root)).toSorted(), ["bin", "data", "password", "run"]);
});

test("a database of another major version is refused with the ways out, and left alone", async () => {
  const version = join(cluster, "PG_VERSION");
  const before = (await readdir(cluster)).toSorted();
  await writeFile(version, "17\n");
  await assert.rejects(
    startDatabase(dataDir),
    refused(
      "embedded.other_version",
      /PostgreSQL 17, and this Railhead brings PostgreSQL 18.*export.*RAILHEAD_DATA_DIR.*DATABASE_URL/,
    ),
  );
  assert.deepEqual((await readdir(cluster)).toSorted(), before);
  assert.equal(await readFile(version, "utf8"), "17\n");
  await writeFile(version, "18\n");
  await (await startDatabase(dataDir)).stop();
});

test("a folder in the database's place that is no database is refused and left alone", async () => {
  const version = join(cluster, "PG_VERSION");
  await rename(version, `${version}.away`);
  await assert.rejects(startDatabase(dataDir), refused("embedded.not_a_database", /Nothing was changed/));
  await rename(`${version}.away`, version);
  await (await startDatabase(dataDir)).stop();
});

test("a damaged database is refused with PostgreSQL's own words", async () => {
  const control = join(cluster, "global", "pg_control");
  await rename(control, `${control}.away`);
  await assert.rejects(startDatabase(dataDir), refused("embedded.start_failed", /could not find the database system/));
  await rename(`${control}.away`, control);
  await (await startDatabase(dataDir)).stop();
});

test("programs that were staged half way are staged anew", async () => {
  const [version] = await readdir(join(root, "bin"));
  await rm(join(root, "bin", version ?? "", ".complete"));
  await rm(join(root, "bin", version ?? "", "lib"), { recursive: true });
  await (await startDatabase(dataDir)).stop();
});
