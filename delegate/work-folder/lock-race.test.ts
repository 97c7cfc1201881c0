/**
 * The removal of an unused folder while another process locks or creates it. The other process stops at a given call.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, statSync, symlinkSync } from "node:fs";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { tryLock } from "./lock.ts";
import { prepareWorkDir } from "./work-dir.ts";
import { removeFolderIfUnused } from "../runtime-folder/note.ts";
import { writeWorkFolderNote } from "../runtime-folder/unused-folders.ts";
import { createPlace } from "../testing/kit.ts";

const moduleUrl = (name: string): string => JSON.stringify(new URL(name, import.meta.url).href);

/**
 * Before SQLite opens the lock file for the first time, or after the folder was created, found or opened for the first
 * time.
 */
type Stop = "open" | "mkdir" | "opened";

/**
 * Prints "stopped" at the call, and waits for a line. Prints its result, and keeps what it has until its input ends.
 */
const program = (stop: Stop): string => `
  import fs from "node:fs";
  import { DatabaseSync } from "node:sqlite";
  import { registerHooks, syncBuiltinESMExports } from "node:module";
  let isStopped = false;
  const stopOnce = () => {
    if (isStopped) return;
    isStopped = true;
    fs.writeSync(1, "stopped\\n");
    fs.readSync(0, Buffer.alloc(1));
  };
  if ("${stop}" === "open") {
    globalThis.Stopping = class extends DatabaseSync {
      constructor(...rest) { stopOnce(); super(...rest); }
    };
    const url = "data:text/javascript,export const DatabaseSync = globalThis.Stopping";
    registerHooks({
      resolve: (name, context, next) =>
        name === "node:sqlite" ? { url, format: "module", shortCircuit: true } : next(name, context),
    });
  } else {
    const name = "${stop}" === "mkdir" ? "mkdirSync" : "openSync";
    const call = fs[name];
    fs[name] = (...rest) => { try { return call(...rest); } finally { if (rest[0] === process.argv[1]) stopOnce(); } };
    syncBuiltinESMExports();
  }
  const { takeLock } = await import(${moduleUrl("lock.ts")});
  const { createFolder } = await import(${moduleUrl("runtime-path.ts")});
  const path = process.argv[1];
  const why = createFolder(path, false);
  const release = await takeLock(path, () => void createFolder(path, false)).catch(String);
  fs.writeSync(1, JSON.stringify({ why, lock: typeof release === "string" ? release : typeof release }) + "\\n");
  fs.readSync(0, Buffer.alloc(1));
`;

/** An unused folder with its note, and a process that is about to take it. */
async function setUp(t: TestContext, stop: Stop) {
  const place = createPlace();
  const folder = join(place.path, "memory");
  mkdirSync(folder);
  const note = writeWorkFolderNote(folder, prepareWorkDir(join(place.path, "work"), false));
  const child = spawn(process.execPath, ["--input-type=module", "-e", program(stop), folder], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  t.after(() => {
    child.kill("SIGKILL");
    place.remove();
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  assert.equal((await lines.next()).value, "stopped");
  const proceed = async (): Promise<unknown> => {
    child.stdin.write("\n");
    return JSON.parse(String((await lines.next()).value));
  };
  const finish = async (): Promise<void> => {
    assert.deepEqual(await proceed(), { lock: "function" });
    assert.equal(tryLock(folder), undefined);
    assert.equal(statSync(join(folder, "lock")).mode & 0o777, 0o600);
    assert.equal(await removeFolderIfUnused(folder, undefined, tryLock), false);
  };
  return { place, folder, note, proceed, finish };
}

for (const stop of ["open", "mkdir"] as const)
  test(`a process has the folder and its lock although the folder is removed meanwhile (${stop})`, async (t) => {
    const { folder, note, finish } = await setUp(t, stop);
    assert.equal(await removeFolderIfUnused(folder, note, tryLock), true);
    await finish();
  });

test("a process creates no lock file that other users can read if the folder is replaced meanwhile", async (t) => {
  const { folder, note, finish } = await setUp(t, "open");
  assert.equal(await removeFolderIfUnused(folder, note, tryLock), true);
  mkdirSync(folder);
  await finish();
});

for (const stop of ["open", "opened"] as const)
  test(`a process creates nothing where another user's link leads that takes the folder's path (${stop})`, async (t) => {
    const { place, folder, note, proceed } = await setUp(t, stop);
    const target = join(place.path, "target");
    mkdirSync(target, { mode: 0o755 });
    assert.equal(await removeFolderIfUnused(folder, note, tryLock), true);
    symlinkSync(target, folder);
    const { lock } = (await proceed()) as { readonly lock: string };
    assert.match(lock, /it is no folder, and belongs to the user/);
    assert.deepEqual(readdirSync(target), []);
    assert.equal(statSync(target).mode & 0o777, 0o755);
  });
