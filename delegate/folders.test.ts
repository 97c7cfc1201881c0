import assert from "node:assert/strict";
import { chmodSync, existsSync, linkSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { closeDescriptors, makeFolders } from "./folders.ts";
import { type Meta, paths, readJournal } from "./journal.ts";
import { makePlace } from "./testing/kit.ts";
import { newTaskId } from "./testing/pretend-server.ts";
import { prepareWorkDir } from "./work-dir.ts";

const place = makePlace();
after(place.remove);
const workDir = prepareWorkDir(place.path, false);
const folders = makeFolders(workDir);

const metaOf = (task: string, epoch = 1): Meta => ({
  task,
  epoch,
  cookie: "c".repeat(32),
  receivedAt: 1,
  bootId: "b",
  owner: null,
  outputs: [{ name: "x", variable: "X" }],
});

function create(meta: Meta, script = "echo"): string {
  const { folder, descriptors } = folders.create(meta, script, undefined);
  closeDescriptors(descriptors);
  return folder;
}

test("a folder holds what a step needs, closed to others", () => {
  const meta = metaOf(newTaskId());
  const folder = create(meta, "echo 'ü'\n");
  assert.deepEqual(readJournal(folder).meta, meta);
  assert.equal(readFileSync(paths(folder).script, "utf8"), "echo 'ü'\n");
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  assert.deepEqual(folders.scan(), [{ folder, task: meta.task, epoch: 1 }]);
});

test("a second folder for the same task and epoch is not made", () => {
  const meta = metaOf(newTaskId());
  const folder = create(meta, "first");
  assert.throws(() => create(meta, "second"), /EEXIST|ENOTEMPTY/);
  assert.equal(readFileSync(paths(folder).script, "utf8"), "first");
  create(metaOf(meta.task, 2));
});

test("a folder in which nothing was left serves again, with nothing of the task before", async () => {
  const folder = create({ ...metaOf(newTaskId()), outputs: [] }, "a long first script");
  for (const path of [paths(folder).output, paths(folder).journal]) writeFileSync(path, "old");
  chmodSync(paths(folder).work, 0o777);
  const { ino } = statSync(folder);
  await folders.discard(folder, true);
  assert.equal(existsSync(folder), false);
  const meta = metaOf(newTaskId());
  const next = create(meta, "short");
  assert.equal(statSync(next).ino, ino);
  assert.equal(readFileSync(paths(next).script, "utf8"), "short");
  assert.equal(readFileSync(paths(next).output, "utf8"), "");
  assert.deepEqual(readJournal(next), { meta, pid: undefined, exit: undefined, isCancelled: false });
  assert.equal(statSync(paths(next).work).mode & 0o777, 0o700);
});

const traces: Readonly<Record<string, (folder: string) => void>> = {
  "a file": (folder) => writeFileSync(join(paths(folder).work, "left"), ""),
  "a file beside": (folder) => writeFileSync(join(folder, "left"), ""),
  "a second name of a file": (folder) => linkSync(paths(folder).output, join(paths(folder).tmp, "name")),
  "a folder that is read-only": (folder) => {
    writeFileSync(join(paths(folder).work, "left"), "");
    chmodSync(paths(folder).work, 0o500);
  },
};
for (const [what, leave] of Object.entries(traces))
  test(`a folder in which ${what} was left is removed`, async () => {
    const folder = create(metaOf(newTaskId()));
    leave(folder);
    await folders.discard(folder, true);
    assert.deepEqual(readdirSync(workDir.spare), []);
  });

test("a folder whose processes may live on is not used again", async () => {
  await folders.discard(create(metaOf(newTaskId())), false);
  assert.deepEqual(readdirSync(workDir.spare), []);
});
