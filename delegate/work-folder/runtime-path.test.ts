/**
 * The path of a delegate's folder in memory: another user takes it, and secrets stay in memory. Real locks and folders.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  watch,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { test, type TestContext } from "node:test";
import { openRuntimeFolder } from "../runtime-folder/runtime-folder.ts";
import { createPlace } from "../testing/kit.ts";
import { newTaskId } from "../testing/pretend-server.ts";
import { claimWorkFolder, type WorkFolder } from "./claim.ts";
import { tryLock } from "./lock.ts";
import { listRuntimeFolders } from "./runtime-path.ts";
import { readOrCreateIdentity, prepareWorkDir } from "./work-dir.ts";

const onlyAsRoot = { skip: process.getuid?.() === 0 ? false : "needs root, to make another user's folders" };
const OTHER_USER = 65_534;
const TASK = "AAAAAAAAAAAAAAAAAAAAAA.1";

function setUp(t: TestContext) {
  const place = createPlace();
  const work = join(place.path, "work");
  const warnings: unknown[] = [];
  const log = { warn: (...words: unknown[]) => void warnings.push(words) };
  const takenNames: string[] = [];
  const claimed: WorkFolder[] = [];
  t.after(async () => {
    for (const { release } of claimed) await release();
    const identity = readOrCreateIdentity(prepareWorkDir(work, true));
    for (const path of [...takenNames, ...listRuntimeFolders(identity)]) rmSync(path, { recursive: true, force: true });
    place.remove();
  });
  return {
    place,
    work,
    warnings,
    claim: async (path = work): Promise<WorkFolder> => {
      const wanted = { path, stepUser: undefined, registry: join(place.path, "registry", "ids"), isNamed: true };
      const folder = await claimWorkFolder(wanted, { chance: () => 0, log });
      claimed.push(folder);
      return folder;
    },
    /** Takes a name as another user of the machine. */
    take: (path: string): void => {
      takenNames.push(path);
      mkdirSync(path);
      chownSync(path, OTHER_USER, OTHER_USER);
    },
    makeTask: (secrets: string): void => {
      for (const folder of [secrets, join(work, "tasks")]) mkdirSync(join(folder, TASK), { recursive: true });
    },
    removeTask: (): void => rmSync(join(work, "tasks", TASK), { recursive: true }),
  };
}

test(
  "another user who takes the name of a delegate's folder cannot move its secrets to a disk",
  onlyAsRoot,
  async (t) => {
    const { claim, take, warnings } = setUp(t);
    const endings: string[] = [];
    for (let start = 0; start < 3; start++) {
      const { secrets, release } = await claim();
      assert.equal(secrets.inMemory, true);
      endings.push(secrets.path.slice(-16));
      await release();
      assert.equal(existsSync(secrets.path), false);
      take(secrets.path);
    }
    assert.equal(new Set(endings).size, 3);
    assert.deepEqual(warnings, []);
  },
);

test("a folder that other users can write to is not used", onlyAsRoot, async (t) => {
  const { claim } = setUp(t);
  const { secrets, release } = await claim();
  chmodSync(secrets.path, 0o777);
  mkdirSync(join(secrets.path, "planted"));
  await release();
  const again = await claim();
  assert.notEqual(again.secrets.path, secrets.path);
  assert.equal(again.secrets.inMemory, true);
  rmSync(secrets.path, { recursive: true });
});

test("a delegate finds the folder of its tasks beside others, and keeps out a copy meanwhile", async (t) => {
  const { place, work, claim, makeTask, removeTask } = setUp(t);
  const first = await claim();
  await first.release();
  const copy = join(place.path, "copy");
  cpSync(work, copy, { recursive: true });
  const second = await claim();
  makeTask(second.secrets.path);
  const refusal = /another delegate with the same identity is running on the work folder/;
  await assert.rejects(claim(copy), refusal);
  await second.release();
  const other = second.secrets.path.slice(0, -16) + "0".repeat(16);
  mkdirSync(other, { mode: 0o700 });
  const third = await claim();
  assert.equal(third.secrets.path, second.secrets.path);
  // The copy has no tasks, so that it would take the other folder.
  await assert.rejects(claim(copy), refusal);
  await third.release();
  removeTask();
  rmSync(second.secrets.path, { recursive: true });
  mkdirSync(other, { recursive: true, mode: 0o700 });
  const last = await claim();
  assert.equal(last.secrets.path, other);
});

/** Claims the folder, but waits for a line before it makes its folder in memory. Arguments: folder, registry. */
const LATE = `
  import fs from "node:fs";
  import { syncBuiltinESMExports } from "node:module";
  const { mkdirSync } = fs;
  fs.mkdirSync = (...rest) => {
    if (String(rest[0]).startsWith("/dev/shm/")) {
      fs.writeSync(1, "stopped\\n");
      fs.readSync(0, Buffer.alloc(1));
    }
    return mkdirSync(...rest);
  };
  syncBuiltinESMExports();
  const { claimWorkFolder } = await import(${JSON.stringify(new URL("claim.ts", import.meta.url).href)});
  const [path, registry] = process.argv.slice(1);
  const result = await claimWorkFolder({ path, registry, isNamed: true }, { chance: () => 0, log: { warn() {} } }).catch(String);
  fs.writeSync(1, (typeof result === "string" ? result : "claimed") + "\\n");
  process.exit(0);`;

test("a delegate that has found no folder of its identity is refused if another makes one meanwhile", async (t) => {
  const { place, work, claim } = setUp(t);
  const first = await claim();
  await first.release();
  const copy = join(place.path, "copy");
  cpSync(work, copy, { recursive: true });
  const args = ["--input-type=module", "-e", LATE, copy, join(place.path, "registry", "ids")];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  assert.equal((await lines.next()).value, "stopped");
  const { secrets } = await claim();
  child.stdin.write("\n");
  assert.match(String((await lines.next()).value), /another delegate with the same identity is running/);
  const identity = readOrCreateIdentity(prepareWorkDir(work, true));
  assert.deepEqual(listRuntimeFolders(identity), [secrets.path]);
});

test("a folder that cannot be locked is not used for new tasks", async (t) => {
  const { claim, makeTask, warnings } = setUp(t);
  const first = await claim();
  makeTask(first.secrets.path);
  await first.release();
  rmSync(join(first.secrets.path, "lock"), { force: true });
  mkdirSync(join(first.secrets.path, "lock"));
  const { secrets, restore } = await claim();
  assert.equal(secrets.inMemory, true);
  assert.notEqual(secrets.path, first.secrets.path);
  restore(secrets.path);
  assert.equal(tryLock(secrets.path), undefined);
  assert.equal(warnings.length, 1);
});

test("secrets on a disk stay while tasks of an earlier start need them, and new ones lie in memory", async (t) => {
  const { work, claim, makeTask, removeTask, warnings } = setUp(t);
  const disk = join(work, "secrets");
  makeTask(disk);
  writeFileSync(join(disk, TASK, "masks"), "c2VjcmV0\n");
  mkdirSync(join(disk, "incoming"));
  const first = await claim();
  assert.equal(first.secrets.inMemory, true);
  assert.deepEqual(warnings, [
    [{ folder: disk }, "secrets of running steps lie on a disk: tasks of an earlier start have theirs there"],
  ]);
  const runtimeFolder = openRuntimeFolder(first.secrets.path, first.secrets.earlier);
  const lease = { task: TASK.slice(0, -2), epoch: 1 };
  assert.deepEqual(runtimeFolder.readMasksOf(lease), [Buffer.from("secret")]);
  const later = { ...lease, epoch: 2 };
  runtimeFolder.prepare(later, { owner: undefined, script: "echo script", hasOutputs: false });
  assert.ok(existsSync(join(first.secrets.path, `${later.task}.2`, "script.sh")));
  await runtimeFolder.removeOtherTasks([lease]);
  assert.deepEqual(readdirSync(disk), [TASK]);
  await runtimeFolder.remove(lease);
  assert.deepEqual(readdirSync(disk), []);
  await first.release();
  removeTask();
  const removed = missing(disk);
  const second = await claim();
  assert.equal(second.secrets.inMemory, true);
  await removed;
});

test(
  "a folder in memory that was removed is made again, unless another user has taken its name",
  onlyAsRoot,
  async (t) => {
    const { work, claim, take } = setUp(t);
    const { secrets, restore, release } = await claim();
    rmSync(secrets.path, { recursive: true });
    take(secrets.path);
    const refusal = { message: "the folder for secrets in /dev/shm cannot be made: it belongs to the user 65534" };
    assert.throws(() => restore(secrets.path), refusal);
    const lease = { task: newTaskId(), epoch: 1 };
    const runtimeFolder = openRuntimeFolder(secrets.path, secrets.earlier);
    runtimeFolder.receive({ kind: "secret", ...lease, nth: 0, as: "file", data: "c2VjcmV0", last: true });
    assert.match(String(runtimeFolder.receiveError(lease)), /cannot be used now/);
    assert.deepEqual(readdirSync(secrets.path), []);
    assert.equal(existsSync(join(work, "secrets")), false);
    rmSync(secrets.path, { recursive: true });
    restore(secrets.path);
    assert.equal(tryLock(secrets.path), undefined);
    await release();
    assert.equal(existsSync(secrets.path), false);
  },
);

/** Settles once the file or folder is not there. */
function missing(path: string): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (existsSync(path)) return;
      watcher.close();
      resolve();
    };
    const watcher = watch(dirname(path), look);
    look();
  });
}
