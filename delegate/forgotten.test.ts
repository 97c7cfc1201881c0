import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, rmSync, watch, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { noteFolder, removeForgotten } from "./forgotten.ts";
import { lockWorkDir } from "./lock.ts";
import { processInfo } from "./processes.ts";
import { openSafe } from "./safe.ts";
import { makePlace, optionsFor, type Place, silentLog, spawnDelegate, TOKEN } from "./testing/kit.ts";
import { startPretendServer } from "./testing/pretend-server.ts";
import { identityOf, prepareWorkDir } from "./work-dir.ts";

/** Where the delegate on this work folder keeps secrets; the folder itself is not made. */
function memoryOf(place: Place): string {
  const isRoot = process.getuid?.() === 0;
  const workDir = prepareWorkDir(place.path, isRoot);
  const { path } = openSafe(workDir, identityOf(workDir), isRoot);
  return path;
}

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
    const place = makePlace();
    const path = memoryOf(place);
    const server = await startPretendServer();
    const delegate = spawnDelegate([...optionsFor(server, place), "--token", TOKEN]);
    t.after(async () => {
      await delegate.kill();
      await server.close();
      place.remove();
    });
    await server.welcomed();
    assert.deepEqual(readdirSync(path), ["work-folder"]);
    if (script !== undefined) await server.run({ script }).finished;
    delegate.child.kill("SIGTERM");
    assert.equal(await delegate.exited, 0);
    await gone(path);
  }
});

test("after kill -9 the next delegate of the machine removes an empty folder, and one whose work folder is gone", async (t) => {
  const server = await startPretendServer();
  const places = [makePlace(), makePlace(), makePlace()] as const;
  const [empty, orphan, next] = places;
  const paths = [memoryOf(empty), memoryOf(orphan)] as const;
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
    await delegate.kill();
    assert.deepEqual(readdirSync(memoryOf(place)), ["work-folder"]);
  }
  // The second delegate has removed the first one's.
  await gone(paths[0]);
  mkdirSync(join(paths[1], "incoming"));
  orphan.remove();
  begun.push(start(next));
  await gone(paths[1]);
});

test("what is used, holds something, or is not surely a delegate's stays", async () => {
  const place = makePlace();
  const memory = join(place.path, "memory");
  const spawned = spawn("sleep", ["inf"]);
  await once(spawned, "spawn");
  const holder = { pid: spawned.pid ?? 0, startTime: processInfo(spawned.pid ?? 0)?.startTime ?? "" };
  const make = (letter: string, how: { isUsed?: boolean; isGone?: boolean; holds?: boolean } = {}): string => {
    const folder = join(memory, `railhead-${letter.repeat(32)}`);
    mkdirSync(folder, { recursive: true });
    const workDir = prepareWorkDir(join(place.path, letter), false);
    const identity = identityOf(workDir);
    noteFolder(folder, workDir, identity, how.isUsed ? holder : { pid: holder.pid, startTime: "1" });
    if (how.holds) writeFileSync(join(folder, "task"), "");
    if (how.isGone) rmSync(workDir.path, { recursive: true });
    return identity;
  };
  const own = make("0");
  make("1", { isUsed: true });
  make("2", { isUsed: true, isGone: true });
  make("3", { holds: true });
  make("4");
  make("5", { isGone: true, holds: true });
  mkdirSync(join(memory, "railhead-other"));
  // Without a note: its delegate is just being started.
  mkdirSync(join(memory, `railhead-${"6".repeat(32)}`));
  // A delegate that starts and has not made its note.
  make("7");
  const release = await lockWorkDir(join(place.path, "7"));
  const names = (): readonly string[] =>
    readdirSync(memory)
      .map((name) => name.slice(9, 14))
      .toSorted();

  await removeForgotten(own, silentLog(), [memory, join(place.path, "missing")]);
  assert.deepEqual(names(), ["00000", "11111", "22222", "33333", "66666", "77777", "other"]);
  await release();
  spawned.kill("SIGKILL");
  await once(spawned, "exit");
  await removeForgotten(own, silentLog(), [memory]);
  assert.deepEqual(names(), ["00000", "33333", "66666", "other"]);
  place.remove();
});
