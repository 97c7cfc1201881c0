import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { isRoot, startDatabase, temporaryFolder } from "../../../../../test/support/processes/embedded.ts";
import { silentLog } from "../../../../../test/support/database.ts";
import { openDb } from "../../pool/pool.ts";

const exec = promisify(execFile);
const folder = await temporaryFolder();
const disk = join(folder.path, "disk");
const dataDir = join(disk, "data");
let mounted = false;

before(async () => {
  await mkdir(disk);
  mounted =
    isRoot &&
    process.platform === "linux" &&
    (await exec("mount", ["-t", "tmpfs", "-o", "size=64m,mode=755", "railhead-test", disk]).then(
      () => true,
      () => false,
    ));
});
after(async () => {
  if (mounted) await exec("umount", ["-l", disk]);
  await folder.remove();
});

const full = (error: unknown): boolean =>
  (error as { code?: unknown }).code === "embedded.disk_full" &&
  String(error).includes(disk) &&
  /\d+ bytes free/.test(String(error));

test("a full disk is said clearly, loses nothing, and needs no hand once there is room", async (t) => {
  // In CI, which runs as root, a skipped test would be a test that nobody runs.
  assert.ok(mounted || !isRoot || !process.env["CI"], "CI must be able to mount a tmpfs");
  if (!mounted) return t.skip("needs a small file system of its own: run npm test as root where it may mount a tmpfs");
  await assert.rejects(startDatabase(dataDir), full);
  assert.deepEqual(await readdir(join(dataDir, "postgres")), ["bin", "run"], "refused before anything was made");

  await exec("mount", ["-o", "remount,size=400m", disk]);
  let embedded = await startDatabase(dataDir);
  let db = openDb({ connection: embedded.connection, log: silentLog, onError: () => {} });
  await db.query("create table rows (data bytea)");
  await db.query("insert into rows values ('kept')");
  await fill();
  const write = db.query(
    "insert into rows select decode(repeat(md5(n::text), 40000), 'hex') from generate_series(1, 200) n",
  );
  await assert.rejects(write, (error) => (error as { code?: unknown }).code === "db.disk_full");
  assert.deepEqual(await db.query("select convert_from(data, 'UTF8') as data from rows"), [{ data: "kept" }]);
  await db.close();
  await embedded.stop();
  await assert.rejects(startDatabase(dataDir), full);

  await rm(join(disk, "filler"));
  embedded = await startDatabase(dataDir);
  db = openDb({ connection: embedded.connection, log: silentLog, onError: () => {} });
  assert.deepEqual(await db.query("select convert_from(data, 'UTF8') as data from rows"), [{ data: "kept" }]);
  await db.close();
  await embedded.stop();
});

/** Takes all the room that is left. */
async function fill(): Promise<void> {
  const file = await open(join(disk, "filler"), "w");
  const block = Buffer.alloc(1 << 20);
  try {
    for (;;) await file.write(block);
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, "ENOSPC");
  } finally {
    await file.close();
  }
}
