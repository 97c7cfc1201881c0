import assert from "node:assert/strict";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createAvailability } from "./availability.ts";
import { connectDelegate, createPlace, runtimeFolderOf, silentLog } from "./testing/kit.ts";
import { startPretendServer } from "./testing/pretend-server.ts";
import { tryLock } from "./work-folder/lock.ts";

test("a missing folder is a reason to take no tasks, until it is there again", () => {
  const place = createPlace();
  const folder = join(place.path, "missing");
  const reports: (string | undefined)[] = [];
  let checkAgain = (): void => {};
  const after = (_: number, run: () => void): (() => void) => {
    checkAgain = run;
    return () => {};
  };
  const availability = createAvailability({
    log: silentLog(),
    timers: { now: () => 0, elapsed: () => 0, after },
    folders: [folder],
    onChange: () => reports.push(availability.reason()),
  });
  assert.match(availability.check() ?? "", /^cannot use its folders: ENOENT.*missing/);
  mkdirSync(folder);
  checkAgain();
  assert.equal(availability.reason(), undefined);
  assert.deepEqual(
    reports.map((reason) => reason !== undefined),
    [true, false],
  );
  place.remove();
});

test("a delegate whose folder in memory was removed makes it again, with its lock, and runs the next task", async () => {
  const place = createPlace();
  const server = await startPretendServer();
  const delegate = await connectDelegate(server, place);
  const memory = runtimeFolderOf(place);
  await server.run({ script: "echo first" }).finished;
  rmSync(memory, { recursive: true });
  const task = server.run({ script: "echo second" });
  assert.deepEqual((await task.finished).outcome, { kind: "exited", exitCode: 0, outputs: [] });
  assert.equal(task.output().toString(), "second\n");
  assert.equal(tryLock(memory), undefined);
  await delegate.stop();
  await server.close();
  place.remove();
  rmSync(memory, { recursive: true, force: true });
});
