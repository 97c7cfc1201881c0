/** What steps leave behind in order to stop the removal, or to keep the users of others from being used again. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test, type TestContext } from "node:test";
import {
  A,
  runAs,
  B,
  createTestLeftovers,
  testFolder,
  onlyAsRoot,
  owner,
  PATH,
  UNUSED,
  withPython,
} from "../testing/leftovers-kit.ts";

const place = testFolder();
chmodSync(place, 0o711);

function publicFolder(): string {
  const folder = mkdtempSync(join(place, "public-"));
  chmodSync(folder, 0o1777);
  return folder;
}

/** 120 bytes that are no UTF-8: as text they are too long for a name. */
const LONG = "$(printf '\\xff%.0s' {1..120})";

/** A process of the user that goes on until its standard input is closed; answers its next line of output. */
function running(t: TestContext, uid: number, code: string, ...args: string[]): () => Promise<string> {
  const child = spawn("python3", ["-c", code, ...args], {
    uid,
    gid: uid,
    cwd: "/",
    env: { PATH },
    stdio: ["pipe", "pipe", "inherit"],
  });
  t.after(async () => {
    const isOver = once(child, "exit");
    child.kill("SIGKILL");
    await isOver;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return async () => String((await lines.next()).value);
}

test("names that are not UTF-8 are removed, and those of other users stop nothing", onlyAsRoot, async (t) => {
  const folder = publicFolder();
  runAs(
    A,
    "bash",
    "-c",
    `cd "$1" && touch ${LONG}of-a $'caf\\xe9' && mkdir -m 700 $'\\xff' && touch $'\\xff/'${LONG}`,
    "-",
    folder,
  );
  assert.equal(spawnSync("bash", ["-c", `touch "$1/"${LONG}`, "-", folder]).status, 0);
  assert.equal(readdirSync(folder, { encoding: "buffer" }).length, 4);
  const leftovers = createTestLeftovers(t, [folder]);
  leftovers.releaseUser(owner(A));
  await leftovers.givenBack(A);
  assert.deepEqual(readdirSync(folder, { encoding: "buffer" }), [Buffer.alloc(120, 0xff)]);
});

test("a folder that cannot be removed keeps its own user, and no other", onlyAsRoot, async (t) => {
  const folder = publicFolder();
  runAs(A, "mkdir", "-p", join(folder, "of-a", "mounted"));
  runAs(B, "mkdir", join(folder, "of-b"));
  const mounted = join(folder, "of-a", "mounted");
  if (spawnSync("sh", ["-c", 'mount -t tmpfs railhead "$1"', "-", mounted]).status !== 0)
    return t.skip("needs the right to mount");
  const unmount = (): number | null => spawnSync("sh", ["-c", 'umount "$1"', "-", mounted], { stdio: "ignore" }).status;
  t.after(unmount);
  const leftovers = createTestLeftovers(t, [folder, join(place, "no-such-folder")]);
  leftovers.releaseUser(owner(A));
  leftovers.releaseUser(owner(B));
  await leftovers.givenBack(B);
  assert.deepEqual(leftovers.order, [B]);
  assert.deepEqual(readdirSync(folder), ["of-a"]);
  assert.equal(unmount(), 0);
  await leftovers.givenBack(A);
  assert.deepEqual(readdirSync(folder), []);
});

test("a user that has left very much does not keep another one waiting", onlyAsRoot, async (t) => {
  const folder = publicFolder();
  runAs(A, "sh", "-c", 'cd "$1" && seq 10500 | xargs touch', "-", folder);
  runAs(B, "touch", join(folder, "of-b"));
  const leftovers = createTestLeftovers(t, [folder]);
  leftovers.releaseUser(owner(A));
  leftovers.releaseUser(owner(B));
  await leftovers.givenBack(A);
  assert.deepEqual(leftovers.order, [B, A]);
  assert.deepEqual(readdirSync(folder), []);
});

/** Makes a folder in the open one of another user, and files in there until it may not any more. */
const FILL = `
import os, sys
top = os.open(sys.argv[1], os.O_RDONLY)
os.mkdir("sub", 0o700, dir_fd=top)
sub = os.open("sub", os.O_RDONLY, dir_fd=top)
number = 0
while True:
    try: os.close(os.open(str(number), os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=sub))
    except OSError as error: break
    if number == 3000: print("filling", flush=True)
    number += 1
try: os.fchmod(sub, 0o777)
except PermissionError: print("taken", flush=True)
sys.stdin.read()
`;

test("a step cannot go on filling a folder that it has made in the folder of an ended task", withPython, async (t) => {
  const folder = publicFolder();
  runAs(A, "mkdir", "-m", "777", join(folder, "of-a"));
  chmodSync(join(folder, "of-a"), 0o777);
  const line = running(t, B, FILL, join(folder, "of-a"));
  assert.equal(await line(), "filling");
  const leftovers = createTestLeftovers(t, [folder]);
  leftovers.releaseUser(owner(A));
  await leftovers.givenBack(A);
  assert.deepEqual(readdirSync(folder), []);
  assert.equal(await line(), "taken");
});

/** Makes a message queue and gives it to another user, who has no part in it. */
const GIVE_QUEUE = `
import ctypes, struct, sys
libc = ctypes.CDLL(None)
queue = libc.msgget(0, 0o1600)
about = ctypes.create_string_buffer(256)
libc.msgctl(queue, 2, about)
struct.pack_into("I", about, 4, int(sys.argv[1]))
print(queue if libc.msgctl(queue, 1, about) == 0 else "not given", flush=True)
sys.stdin.read()
`;

test(
  "what a running task gives to users without a task keeps no other user, and goes with its task",
  withPython,
  async (t) => {
    const hasQueue = (id: string): boolean =>
      readFileSync("/proc/sysvipc/msg", "latin1")
        .split("\n")
        .some((line) => line.trim().split(/\s+/)[1] === id);
    const line = running(t, B, GIVE_QUEUE, String(UNUSED));
    const queue = await line();
    assert.match(queue, /^\d+$/);
    const kept: number[] = [];
    const leftovers = createTestLeftovers(t, [], {
      isUnused: (uid) => uid === UNUSED,
      keep: ({ uid }) => kept.push(uid),
    });
    leftovers.releaseUser(owner(A));
    await leftovers.givenBack(A);
    assert.equal(hasQueue(queue), true);
    assert.deepEqual(kept, []);
    leftovers.releaseUser(owner(B));
    await leftovers.givenBack(B);
    assert.equal(hasQueue(queue), false);
  },
);

test("what an earlier delegate has not removed keeps its user until it is gone", onlyAsRoot, async (t) => {
  const folder = publicFolder();
  mkdirSync(join(folder, "old", "inner"), { recursive: true });
  chownSync(join(folder, "old"), UNUSED, UNUSED);
  let isTaken = false;
  const leftovers = createTestLeftovers(t, [folder], {
    isUnused: (uid) => uid === UNUSED && !isTaken,
    keep: ({ uid }) => {
      assert.equal(existsSync(join(folder, "old", "inner")), true);
      isTaken = uid === UNUSED;
    },
  });
  await leftovers.givenBack(UNUSED);
  assert.deepEqual([isTaken, readdirSync(folder)], [true, []]);
});
