/** What steps leave behind, with files, queues, memory and semaphores of users that have no process. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { removeTree } from "../work-folder/remove-tree.ts";
import {
  A,
  runAs,
  B,
  createTestLeftovers,
  testFolder,
  onlyAsRoot,
  owner,
  withPython,
} from "../testing/leftovers-kit.ts";

const place = testFolder();

const rowsOf = (table: string, uid: number): readonly string[] =>
  readFileSync(`/proc/sysvipc/${table}`, "latin1")
    .split("\n")
    .filter((line) => line.trim().split(/\s+/).includes(String(uid)));

test(
  "System V memory, queues and semaphores of an ended task go, and its user is given back",
  onlyAsRoot,
  async (t) => {
    runAs(A, "ipcmk", "-Q");
    runAs(A, "ipcmk", "-S", "1");
    runAs(A, "ipcmk", "-M", "64");
    for (const table of ["msg", "sem", "shm"]) assert.equal(rowsOf(table, A).length, 1, table);
    const leftovers = createTestLeftovers(t, []);
    leftovers.releaseUser(owner(A));
    await leftovers.givenBack(A);
    for (const table of ["msg", "sem", "shm"]) assert.deepEqual(rowsOf(table, A), [], table);
  },
);

test("System V memory that a task has given to another owner goes too", withPython, async (t) => {
  const give = `
import ctypes, struct
libc = ctypes.CDLL(None)
id = libc.shmget(0, 64, 0o1600)
about = ctypes.create_string_buffer(256)
libc.shmctl(id, 2, about)
struct.pack_into("I", about, 4, 0)
print(libc.shmctl(id, 1, about))`;
  assert.equal(runAs(A, "python3", "-c", give).trim(), "0");
  assert.equal(rowsOf("shm", A).length, 1);
  const leftovers = createTestLeftovers(t, []);
  leftovers.releaseUser(owner(A));
  await leftovers.givenBack(A);
  assert.deepEqual(rowsOf("shm", A), []);
});

test("a file that was passed over while its task ran goes when the task has ended", onlyAsRoot, async (t) => {
  const folder = mkdtempSync(join(place, "shared-"));
  const file = join(folder, "of-b");
  writeFileSync(file, "");
  chownSync(file, B, B);
  const leftovers = createTestLeftovers(t, [folder]);
  leftovers.releaseUser(owner(A));
  await leftovers.givenBack(A);
  assert.equal(existsSync(file), true);
  leftovers.releaseUser(owner(B));
  await leftovers.givenBack(B);
  assert.equal(existsSync(file), false);
});

test("a folder with many names is read in parts, between which other work goes on", onlyAsRoot, async (t) => {
  const folder = mkdtempSync(join(place, "many-"));
  for (let nth = 0; nth < 2_100; nth += 1) writeFileSync(join(folder, String(nth)), "");
  let turn = 0;
  let isOver = false;
  const count = (): void => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  count();
  const turns = new Set<number>();
  const leftovers = createTestLeftovers(t, [folder], { asks: () => turns.add(turn) });
  leftovers.releaseUser(owner(A));
  await leftovers.givenBack(A);
  isOver = true;
  assert.ok(turns.size >= 3, `all names were looked at in ${turns.size} turns of the event loop`);
});

test("a folder that cannot be removed at first is tried again until it can", async (t) => {
  const leftovers = createTestLeftovers(t, []);
  let tries = 0;
  await new Promise<void>((resolve) => {
    leftovers.retry(async () => {
      tries += 1;
      if (tries < 3) throw new Error("not yet");
      resolve();
    });
  });
  assert.equal(tries, 3);
});

test("a tree deeper than there are descriptors is removed, with folders that its owner has closed", () => {
  const top = mkdtempSync(join(place, "deep-"));
  const deep = join(top, ...Array.from({ length: 400 }, () => "d"));
  mkdirSync(deep, { recursive: true });
  writeFileSync(join(deep, "file"), "");
  mkdirSync(join(top, "d", "closed", "inner"), { recursive: true });
  for (const name of ["closed/inner", "closed"]) chmodSync(join(top, "d", name), 0o500);
  const code = `const { removeTree } = await import(${JSON.stringify(new URL("../work-folder/remove-tree.ts", import.meta.url).href)}); await removeTree(process.argv[1]);`;
  const limited = 'ulimit -n 64; exec "$0" --input-type=module -e "$1" "$2"';
  const { status, stderr } = spawnSync("/bin/sh", ["-c", limited, process.execPath, code, top], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  assert.equal(existsSync(top), false);
});

test("links in a tree are removed, and not what they lead to", async () => {
  const top = mkdtempSync(join(place, "links-"));
  const kept = mkdtempSync(join(place, "kept-"));
  writeFileSync(join(kept, "file"), "");
  mkdirSync(join(top, "a", "b"), { recursive: true });
  assert.equal(spawnSync("ln", ["-s", kept, join(top, "a", "b", "link")]).status, 0);
  assert.equal(spawnSync("ln", ["-s", kept, join(top, "a", "link")]).status, 0);
  await removeTree(top);
  assert.equal(existsSync(top), false);
  assert.equal(existsSync(join(kept, "file")), true);
});
