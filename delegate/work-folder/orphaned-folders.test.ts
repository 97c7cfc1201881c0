import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { lockWorkDir } from "./lock.ts";
import { writeOwnerNote, removeOrphanedFolders } from "./orphaned-folders.ts";
import { openStepIds, REGISTRY } from "../isolation/step-ids.ts";
import { createPlace, silentLog } from "../testing/kit.ts";
import { A, onlyAsRoot, PATH, withPython } from "../testing/leftovers-kit.ts";
import { readOrCreateIdentity, prepareWorkDir, type WorkDir } from "./work-dir.ts";

const place = createPlace();
after(place.remove);
const shelf = join(place.path, "shelf");
const dataDir = (name: string): string => join(place.path, `data-of-${name}`);

/** A work folder beside the others, whose data directory is there. */
function workFolder(name: string): WorkDir {
  const made = prepareWorkDir(join(shelf, name), false);
  readOrCreateIdentity(made);
  mkdirSync(dataDir(name));
  writeOwnerNote(made, dataDir(name));
  return made;
}

test("only an unused work folder without tasks whose data directory is gone is removed", async () => {
  const [own, , gone, used, busy, bare] = ["own", "kept", "gone", "used", "busy", "bare"].map(workFolder);
  assert.ok(own && gone && used && busy && bare);
  for (const name of ["own", "gone", "used", "busy", "bare"]) rmSync(dataDir(name), { recursive: true });
  rmSync(join(bare.path, "owner"));
  mkdirSync(join(busy.tasks, "AAAAAAAAAAAAAAAAAAAAAA.1"));
  const release = await lockWorkDir(used.path);
  const told: string[] = [];
  const log = {
    info: (_: unknown, text?: string) => void told.push(text ?? ""),
    warn: (_: unknown, text?: string) => void told.push(text ?? ""),
  };

  await removeOrphanedFolders(own, log);
  assert.deepEqual(readdirSync(shelf).toSorted(), ["bare", "busy", "kept", "own", "used"]);
  assert.deepEqual(told.toSorted(), [
    "a work folder whose data directory is gone still holds tasks; it stays",
    "removed a work folder whose data directory is gone",
  ]);

  await release();
  await removeOrphanedFolders(own, log);
  assert.equal(existsSync(used.path), false);
});

test("a removal that was cut short is brought to its end, and told by name; what a person has put there stays", async () => {
  const own = workFolder("second");
  // What other tests have left.
  await removeOrphanedFolders(own, silentLog());
  const make = (name: string, mark?: string): string => {
    const gone = join(shelf, name);
    for (const folder of ["tasks", "work-folder/spare/left"]) mkdirSync(join(gone, folder), { recursive: true });
    if (mark !== undefined) writeFileSync(join(gone, mark), "/third\n");
    return gone;
  };
  const MARK = "railhead-removes-work-folder";
  const rest = make(".gone-AAAAAAAAAAAA", MARK);
  const shared = make(".gone-BBBBBBBBBBBB", MARK);
  rmSync(join(rest, "tasks"), { recursive: true });
  const foreign = [make(".gone-CCCCCCCCCCCC"), make(".gone-DDDDDDDDDDDD", "owner"), make(".gone-fishing", MARK)];
  foreign.push(make("gone", MARK));
  const told: unknown[] = [];
  const log = { info: (...words: unknown[]) => void told.push(words), warn: () => {} };
  await removeOrphanedFolders(own, log);
  const words = "removed a work folder whose data directory is gone";
  assert.deepEqual(new Set(told), new Set([rest, shared].map((gone) => [{ folder: "/third", gone }, words])));
  assert.equal(existsSync(rest), false);
  assert.deepEqual(readdirSync(shared), ["tasks"]);
  for (const folder of foreign) assert.ok(existsSync(join(folder, "work-folder", "spare", "left")), folder);
  for (const folder of [shared, ...foreign]) rmSync(folder, { recursive: true });
});

/**
 * Holds a folder of the tree, and puts a link in the place of the folder below as soon as something in there is
 * removed.
 */
const SWAP = `
import ctypes, os, sys
os.chdir(sys.argv[1])
os.mkdir("deep", 0o755)
for number in range(2000): open(f"deep/{number}", "w").close()
for number in range(50): open(f"deep/precious{number}", "w").close()
libc = ctypes.CDLL(None)
events = libc.inotify_init()
libc.inotify_add_watch(events, b"deep", 0x200)
print("ready", flush=True)
os.read(events, 4096)
try:
    os.rename("deep", "aside")
    os.symlink(sys.argv[2], "deep")
    print("swapped", flush=True)
except OSError: print("refused", flush=True)
sys.stdin.read()
`;

test("a step that still lives cannot lead the removal of a work folder to other files", withPython, async (t) => {
  chmodSync(place.path, 0o711);
  const own = workFolder("third");
  const orphan = workFolder("swapped");
  rmSync(dataDir("swapped"), { recursive: true });
  for (const folder of [shelf, orphan.path]) chmodSync(folder, 0o711);
  const held = join(orphan.spare, "held");
  mkdirSync(held, { recursive: true });
  chownSync(held, A, A);
  chmodSync(orphan.spare, 0o711);
  const kept = join(place.path, "kept");
  mkdirSync(kept, { mode: 0o755 });
  for (let nth = 0; nth < 50; nth += 1) writeFileSync(join(kept, `precious${nth}`), "");
  const step = spawn("python3", ["-c", SWAP, held, kept], {
    uid: A,
    gid: A,
    cwd: "/",
    env: { PATH },
    stdio: ["pipe", "pipe", "inherit"],
  });
  t.after(() => step.kill("SIGKILL"));
  const lines = createInterface({ input: step.stdout })[Symbol.asyncIterator]();
  assert.equal((await lines.next()).value, "ready");
  await removeOrphanedFolders(own, silentLog());
  assert.equal((await lines.next()).value, "refused");
  assert.equal(existsSync(orphan.path), false);
  assert.equal(readdirSync(kept).length, 50);
});

test("a work folder stays as long as a process has one of its users", onlyAsRoot, async (t) => {
  const own = workFolder("fourth");
  const orphan = workFolder("living");
  rmSync(dataDir("living"), { recursive: true });
  const claim = { registry: REGISTRY, workDir: orphan.path, identity: readOrCreateIdentity(orphan), chance: () => 0 };
  const id = openStepIds(claim).allocate();
  const step = spawn("sleep", ["inf"], { uid: id, gid: id, cwd: "/", env: { PATH } });
  t.after(() => step.kill("SIGKILL"));
  await removeOrphanedFolders(own, silentLog());
  assert.equal(existsSync(orphan.path), true);
  const isOver = once(step, "exit");
  step.kill("SIGKILL");
  await isOver;
  await removeOrphanedFolders(own, silentLog());
  assert.equal(existsSync(orphan.path), false);
});
