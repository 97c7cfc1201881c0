import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  utimesSync,
  watch,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { writeWorkFolderNote, removeUnusedFolders } from "./unused-folders.ts";
import { lockWorkDir, tryLock } from "../work-folder/lock.ts";
import { removeFolderIfUnused } from "./note.ts";
import {
  createPlace,
  runtimeFolderOf,
  optionsFor,
  type Place,
  silentLog,
  spawnDelegate,
  TOKEN,
} from "../testing/kit.ts";
import { newTaskId, startPretendServer } from "../testing/pretend-server.ts";
import { readOrCreateIdentity, prepareWorkDir } from "../work-folder/work-dir.ts";

const onlyAsRoot = { skip: process.getuid?.() === 0 ? false : "needs root, to mount a file system" };

/** Settles once it is not there. */
function gone(path: string): Promise<void> {
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

test("a delegate that stops leaves no folder in memory, with or without a step before", async (t) => {
  for (const script of [undefined, "echo here"]) {
    const place = createPlace();
    const path = runtimeFolderOf(place);
    const server = await startPretendServer();
    const delegate = spawnDelegate([...optionsFor(server, place), "--token", TOKEN]);
    t.after(async () => {
      await delegate.kill();
      await server.close();
      place.remove();
    });
    await server.welcomed();
    assert.deepEqual(readdirSync(path), ["lock", "work-folder"]);
    if (script !== undefined) await server.run({ script }).finished;
    delegate.child.kill("SIGTERM");
    assert.equal(await delegate.exited, 0);
    await gone(path);
  }
});

test("after kill -9 the next delegate of the machine removes an empty folder, and one whose work folder is gone", async (t) => {
  const server = await startPretendServer();
  const places = [createPlace(), createPlace(), createPlace()] as const;
  const [empty, orphan, next] = places;
  const paths = [runtimeFolderOf(empty), runtimeFolderOf(orphan)] as const;
  const start = (place: Place) => spawnDelegate([...optionsFor(server, place), "--token", TOKEN]);
  const begun: ReturnType<typeof start>[] = [];
  t.after(async () => {
    for (const { kill } of begun) await kill();
    await server.close();
    for (const place of places) place.remove();
    for (const path of paths) rmSync(path, { recursive: true, force: true });
  });
  for (const place of [empty, orphan]) {
    const welcome = server.nextWelcome();
    const delegate = start(place);
    begun.push(delegate);
    await welcome;
    assert.deepEqual(readdirSync(runtimeFolderOf(place)), ["lock", "work-folder"]);
    // Before the end: each delegate that starts on this machine removes an empty folder.
    if (place === orphan) mkdirSync(join(paths[1], "incoming"));
    await delegate.kill();
  }
  // The second delegate has removed the first one's.
  await gone(paths[0]);
  orphan.remove();
  begun.push(start(next));
  await gone(paths[1]);
});

test("what is used, holds something, or is not surely a delegate's stays", async () => {
  const place = createPlace();
  const memory = join(place.path, "memory");
  const releases: (() => Promise<void>)[] = [];
  const make = async (letter: string, how: { isUsed?: boolean; isGone?: boolean; holds?: boolean } = {}) => {
    const folder = join(memory, `railhead-${letter.repeat(32)}`);
    mkdirSync(folder, { recursive: true });
    const workDir = prepareWorkDir(join(place.path, letter), false);
    readOrCreateIdentity(workDir);
    writeWorkFolderNote(folder, workDir);
    if (how.isUsed) releases.push(await lockWorkDir(folder));
    if (how.holds) writeFileSync(join(folder, "task"), "");
    if (how.isGone) rmSync(workDir.path, { recursive: true });
    return folder;
  };
  await make("1", { isUsed: true });
  await make("2", { isUsed: true, isGone: true, holds: true });
  await make("3", { holds: true });
  await make("4");
  await make("5", { isGone: true, holds: true });
  mkdirSync(join(memory, "railhead-other"));
  // Without a note: its delegate is just being started.
  mkdirSync(join(memory, `railhead-${"6".repeat(32)}`));
  // Of another name space of processes, as in a container: its work folder may be there, where we do not see it.
  const foreign = await make("7", { isGone: true });
  writeFileSync(join(foreign, "work-folder"), `${join(place.path, "7")}\npid:[1]\nword\n`);
  const names = (): readonly string[] =>
    readdirSync(memory)
      .map((name) => name.slice(9, 14))
      .toSorted();

  await removeUnusedFolders(silentLog(), [memory, join(place.path, "missing")]);
  assert.deepEqual(names(), ["11111", "22222", "33333", "66666", "77777", "other"]);
  for (const release of releases) await release();
  await removeUnusedFolders(silentLog(), [memory]);
  assert.deepEqual(names(), ["33333", "66666", "77777", "other"]);
  place.remove();
});

test("the folder of a work folder that was moved stays while a step of it runs", async (t) => {
  const place = createPlace();
  t.after(place.remove);
  const memory = join(place.path, "memory");
  const folder = join(memory, `railhead-${"9".repeat(32)}`);
  mkdirSync(join(folder, "task"), { recursive: true });
  writeWorkFolderNote(folder, prepareWorkDir(join(place.path, "work"), false));
  const steps = [spawn("/bin/sh", ["-c", "echo here; read line", join(folder, "task", "script.sh")])];
  if (process.getuid?.() === 0) {
    const gid = 0x6f00_0000 + process.pid;
    mkdirSync(join(folder, "other"));
    chownSync(join(folder, "other"), 0, gid);
    steps.push(spawn("/bin/sh", ["-c", "echo here; read line"], { gid }));
  }
  for (const step of steps) await once(step.stdout, "data");
  for (const step of steps) {
    await removeUnusedFolders(silentLog(), [memory]);
    assert.ok(existsSync(folder));
    step.stdin.end();
    await once(step, "exit");
  }
  await removeUnusedFolders(silentLog(), [memory]);
  assert.deepEqual(readdirSync(memory), []);
});

test("the folder of a work folder that was moved stays for a day after the last change of a task's files", async (t) => {
  const place = createPlace();
  t.after(place.remove);
  const memory = join(place.path, "memory");
  const folder = join(memory, `railhead-${"7".repeat(32)}`);
  const task = join(folder, `${newTaskId()}.1`);
  mkdirSync(task, { recursive: true });
  const outputs = join(task, "outputs");
  writeFileSync(outputs, "");
  writeWorkFolderNote(folder, prepareWorkDir(join(place.path, "work"), false));
  // As by a step: the times that a process can set do not count.
  for (const days of [-1_000, 1_000]) {
    const time = Date.now() / 1000 + days * 24 * 60 * 60;
    for (const path of [outputs, task]) utimesSync(path, time, time);
    await removeUnusedFolders(silentLog(), [memory]);
    assert.ok(existsSync(outputs));
  }
  const afterHours = (hours: number): number => Date.now() + hours * 60 * 60 * 1000;
  await removeUnusedFolders(silentLog(), [memory], afterHours(23));
  assert.ok(existsSync(outputs));
  await removeUnusedFolders(silentLog(), [memory], afterHours(25));
  assert.deepEqual(readdirSync(memory), []);
});

test("a removal that is cut short leaves the note, and the next one removes the rest", onlyAsRoot, async () => {
  const place = createPlace();
  const memory = mkdtempSync("/dev/shm/railhead-cut-");
  const folder = join(memory, `railhead-${"8".repeat(32)}`);
  // Listed last by a file system in memory, after the note: it is a mount point, which cannot be removed.
  mkdirSync(join(folder, "task"), { recursive: true });
  writeWorkFolderNote(folder, prepareWorkDir(join(place.path, "work"), false));
  execFileSync("/bin/mount", ["-t", "tmpfs", "railhead-test", join(folder, "task")]);
  await removeUnusedFolders(silentLog(), [memory]);
  const [left = ""] = readdirSync(memory);
  assert.ok(existsSync(join(memory, left, "work-folder")));
  execFileSync("/bin/umount", [join(memory, left, "task")]);
  await removeUnusedFolders(silentLog(), [memory]);
  assert.deepEqual(readdirSync(memory), []);
  rmSync(memory, { recursive: true });
  place.remove();
});

test("a delegate that starts while its unused folder is removed has the folder, and its lock, afterwards", async () => {
  const place = createPlace();
  const folder = join(place.path, "memory");
  const prepare = (): void => void mkdirSync(folder, { recursive: true });
  prepare();
  const note = writeWorkFolderNote(folder, prepareWorkDir(join(place.path, "work"), false));
  let isStarted = false;
  let starting: Promise<unknown> = Promise.resolve();
  const removed = await removeFolderIfUnused(folder, note, (at) => {
    const lock = tryLock(at);
    starting = lockWorkDir(folder, prepare).then((release) => {
      isStarted = true;
      assert.equal(tryLock(folder), undefined);
      return release();
    });
    return lock;
  });
  assert.deepEqual({ removed, isStarted }, { removed: true, isStarted: false });
  await starting;
  assert.deepEqual(readdirSync(folder), ["lock"]);
  place.remove();
});
