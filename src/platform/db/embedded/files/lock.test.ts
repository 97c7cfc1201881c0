import assert from "node:assert/strict";
import { chmod, mkdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { killProcess, runModule, temporaryFolder } from "../../../../../test/support/processes/embedded.ts";
import { lockDataDir } from "./lock.ts";

const folder = await temporaryFolder();
after(folder.remove);
const locked = (error: unknown): boolean => (error as { code?: unknown }).code === "embedded.locked";
const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

test("a second holder is refused, in this process and in another, until the first lets go", async () => {
  const dataDir = join(folder.path, "twice");
  const lock = await lockDataDir(dataDir);
  await assert.rejects(lockDataDir(dataDir), locked);
  lock.release();
  lock.release();
  (await lockDataDir(dataDir)).release();
});

test("the refusal names the process, and kill -9 of it frees the lock", async () => {
  const dataDir = join(folder.path, "killed");
  const { child, line } = runModule(`
    import { lockDataDir } from ${JSON.stringify(new URL("lock.ts", import.meta.url).href)};
    globalThis.lock = await lockDataDir(${JSON.stringify(dataDir)});
    console.log("locked");
    setInterval(() => {}, 60000);`);
  await line(/^locked$/);
  await assert.rejects(
    lockDataDir(dataDir),
    (error) => locked(error) && String(error).includes(`process ${child.pid}`),
  );
  await killProcess(child);
  (await lockDataDir(dataDir)).release();
});

test("a path of any length can be locked", async () => {
  const lock = await lockDataDir(join(folder.path, "x".repeat(120), "y".repeat(120)));
  lock.release();
});

test("a new or empty data directory becomes private, one in use keeps its mode", async () => {
  const [fresh, empty, used] = ["fresh", "empty", "used"].map((name) => join(folder.path, name)) as [
    string,
    string,
    string,
  ];
  await mkdir(empty, { mode: 0o755 });
  await mkdir(used, { mode: 0o755 });
  await chmod(used, 0o755);
  await writeFile(join(used, "something"), "");
  for (const path of [fresh, empty, used]) (await lockDataDir(path)).release();
  assert.deepEqual([await modeOf(fresh), await modeOf(empty), await modeOf(used)], [0o700, 0o700, 0o755]);
  assert.equal(await modeOf(join(used, "server.lock")), 0o600);
});

test("a data directory that cannot be made is refused with the reason", async () => {
  const file = join(folder.path, "file");
  await writeFile(file, "");
  await assert.rejects(lockDataDir(join(file, "data")), (error) => /cannot be written: ENOTDIR/.test(String(error)));
});
