/** The names of a delegate's folder in memory: another user takes one, and secrets stay in memory. Real locks and folders. */
import assert from "node:assert/strict";
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
import { test, type TestContext } from "node:test";
import { openRuntimeFolder } from "../runtime-folder/runtime-folder.ts";
import { createPlace } from "../testing/kit.ts";
import { newTaskId } from "../testing/pretend-server.ts";
import { claimWorkFolder, type WorkFolder } from "./claim.ts";
import { tryLock } from "./lock.ts";
import { listRuntimeFolders, runtimeNames } from "./runtime-path.ts";
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
    const names: string[] = [];
    for (let start = 0; start < 3; start++) {
      const { secrets, release } = await claim();
      assert.equal(secrets.inMemory, true);
      assert.ok(!names.includes(secrets.path));
      await release();
      assert.equal(existsSync(secrets.path), false);
      take(secrets.path);
      names.push(secrets.path);
    }
    const [first, second] = names;
    const words = "this path of the delegate's folder in memory cannot be used";
    const why = `it belongs to the user ${OTHER_USER}`;
    assert.deepEqual(
      warnings,
      [first, first, second].map((folder) => [{ folder, why }, words]),
    );
  },
);

test("a name that other users can write to is not used", onlyAsRoot, async (t) => {
  const { claim, warnings } = setUp(t);
  const { secrets, release } = await claim();
  chmodSync(secrets.path, 0o777);
  mkdirSync(join(secrets.path, "planted"));
  await release();
  const again = await claim();
  assert.notEqual(again.secrets.path, secrets.path);
  assert.equal(again.secrets.inMemory, true);
  assert.equal(warnings.length, 1);
  rmSync(secrets.path, { recursive: true });
});

test(
  "a delegate finds the folder of its tasks under another name, and keeps out a copy meanwhile",
  onlyAsRoot,
  async (t) => {
    const { place, work, claim, take, makeTask, removeTask } = setUp(t);
    const first = await claim();
    await first.release();
    const copy = join(place.path, "copy");
    cpSync(work, copy, { recursive: true });
    take(first.secrets.path);
    const second = await claim();
    makeTask(second.secrets.path);
    const refusal = /another delegate with the same identity is running on the work folder/;
    await assert.rejects(claim(copy), refusal);
    // The other user gives the name back.
    rmSync(first.secrets.path, { recursive: true });
    await assert.rejects(claim(copy), refusal);
    rmSync(first.secrets.path, { recursive: true, force: true });
    await second.release();
    mkdirSync(first.secrets.path, { mode: 0o700 });
    const third = await claim();
    assert.equal(third.secrets.path, second.secrets.path);
    // The copy has no tasks, so that it would take the first name.
    await assert.rejects(claim(copy), refusal);
    await third.release();
    removeTask();
    rmSync(second.secrets.path, { recursive: true });
    const last = await claim();
    assert.equal(last.secrets.path, first.secrets.path);
  },
);

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
  runtimeFolder.prepare(later, undefined, "echo script", false);
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
  "if other users have taken all names in memory, the folder is made once they give back the first",
  onlyAsRoot,
  async (t) => {
    const { work, claim, take } = setUp(t);
    const identity = readOrCreateIdentity(prepareWorkDir(work, true));
    for (const parent of ["/dev/shm", "/run"]) for (const name of runtimeNames(identity)) take(join(parent, name));
    const { secrets, restore, release } = await claim();
    assert.equal(secrets.inMemory, true);
    assert.throws(() => restore(secrets.path), /cannot be used: it belongs to the user 65534$/);
    const lease = { task: newTaskId(), epoch: 1 };
    const runtimeFolder = openRuntimeFolder(secrets.path, secrets.earlier);
    runtimeFolder.receive({ kind: "secret", ...lease, nth: 0, as: "file", data: "c2VjcmV0", last: true });
    assert.match(String(runtimeFolder.receiveError(lease)), /cannot be used/);
    assert.deepEqual(readdirSync(secrets.path), []);
    assert.equal(existsSync(join(work, "secrets")), false);
    rmSync(secrets.path, { recursive: true });
    restore(secrets.path);
    assert.equal(tryLock(secrets.path), undefined);
    // It was removed, and another user has the path.
    rmSync(secrets.path, { recursive: true });
    take(secrets.path);
    assert.throws(() => restore(secrets.path), /cannot be used: it belongs to the user 65534$/);
    rmSync(secrets.path, { recursive: true });
    restore(secrets.path);
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
