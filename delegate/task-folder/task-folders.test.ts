import assert from "node:assert/strict";
import {
  chmodSync,
  closeSync,
  existsSync,
  fstatSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { createFolders } from "./task-folders.ts";
import { claimBack, type Meta, readJournal } from "./journal.ts";
import { paths } from "./paths.ts";
import { createPlace } from "../testing/kit.ts";
import { newTaskId } from "../testing/pretend-server.ts";
import { prepareWorkDir } from "../work-folder/work-dir.ts";

const place = createPlace();
after(place.remove);
const workDir = prepareWorkDir(place.path, false);
const folders = createFolders(workDir);

const metaOf = (task: string, epoch = 1): Meta => ({
  task,
  epoch,
  cookie: "c".repeat(32),
  receivedAt: 1,
  bootId: "b",
  owner: null,
  ending: "search",
  outputs: [{ name: "x", variable: "X" }],
});

test("a folder holds what a step needs, closed to others", () => {
  const meta = metaOf(newTaskId());
  const folder = folders.create(meta, undefined);
  assert.deepEqual(readJournal(folder).meta, meta);
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  assert.deepEqual(folders.scan(), [{ folder, task: meta.task, epoch: 1 }]);
});

test("a second folder for the same task and epoch is not made", () => {
  const meta = metaOf(newTaskId());
  const folder = folders.create(meta, undefined);
  const { ino } = statSync(folder);
  assert.throws(() => folders.create(meta, undefined), /EEXIST|ENOTEMPTY/);
  assert.equal(statSync(folder).ino, ino);
  folders.create(metaOf(meta.task, 2), undefined);
});

test("a task is claimed once: by a launcher, or back before that", () => {
  const first = folders.create(metaOf(newTaskId()), undefined);
  assert.equal(claimBack(first), true);
  assert.equal(readJournal(first).isUnstarted, true);
  assert.equal(claimBack(first), false);
  const second = folders.create(metaOf(newTaskId()), undefined);
  renameSync(paths(second).prepared, paths(second).journal);
  assert.equal(claimBack(second), false);
  assert.equal(readJournal(second).isUnstarted, false);
});

const traces: Readonly<Record<string, (folder: string) => void>> = {
  nothing: () => {},
  "a name that is not UTF-8": (folder) => {
    mkdirSync(join(paths(folder).work, "deep"));
    for (const at of [paths(folder).work, join(paths(folder).work, "deep")])
      writeFileSync(Buffer.concat([Buffer.from(`${at}/`), Buffer.alloc(120, 0xff)]), "");
  },
  "a file": (folder) => writeFileSync(join(paths(folder).work, "left"), ""),
  "a second name of a file": (folder) => linkSync(paths(folder).prepared, join(paths(folder).tmp, "name")),
  "a folder that is read-only": (folder) => {
    mkdirSync(join(paths(folder).work, "deep", "er"), { recursive: true });
    chmodSync(join(paths(folder).work, "deep"), 0o500);
    chmodSync(paths(folder).work, 0o000);
  },
};
for (const [what, leave] of Object.entries(traces))
  test(`a folder in which ${what} was left is removed, and none of its files is used again`, async () => {
    const folder = folders.create(metaOf(newTaskId()), undefined);
    leave(folder);
    await folders.discard(folder);
    assert.equal(existsSync(folder), false);
    assert.deepEqual(readdirSync(workDir.spare), []);
  });

test("a discarded folder is gone from its place at once, and its folders are removed while other work continues", async () => {
  const folder = folders.create(metaOf(newTaskId()), undefined);
  const removal = folders.discard(folder);
  assert.equal(existsSync(folder), false);
  assert.equal(readdirSync(workDir.spare).length, 1);
  await removal;
  assert.deepEqual(readdirSync(workDir.spare), []);
});

test("a file that a step keeps open is not reused for the next step", async () => {
  const kept: number[] = [];
  const inodes = new Set<number>();
  for (let round = 0; round < 8; round += 1) {
    const folder = folders.create(metaOf(newTaskId()), undefined);
    const at = paths(folder);
    for (const path of [folder, at.work, at.tmp, at.prepared]) {
      const fd = openSync(path, "r");
      kept.push(fd);
      const { ino } = fstatSync(fd);
      assert.equal(inodes.has(ino), false, `${path} was another task's`);
      inodes.add(ino);
    }
    await folders.discard(folder);
  }
  for (const fd of kept) closeSync(fd);
});
