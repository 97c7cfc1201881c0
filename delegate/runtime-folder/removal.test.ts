/** What a step puts into its folder in memory ends neither the delegate nor another task, and is removed. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openRuntimeFolder } from "./runtime-folder.ts";

const isRoot = process.getuid?.() === 0;
const lease = { task: "t".repeat(22), epoch: 1 };
const other = { task: "u".repeat(22), epoch: 1 };

/** Runs the program in a process of an ordinary user, who has no right to pass over the modes of folders. */
function asOrdinary(program: string): string {
  const place = mkdtempSync(join(tmpdir(), "railhead-removal-"));
  const ids = isRoot ? { uid: 0x6f00_0000 + process.pid, gid: 0x6f00_0000 + process.pid } : {};
  if (isRoot) chownSync(place, ids.uid ?? 0, ids.gid ?? 0);
  try {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ["--input-type=module", "-e", `${PRELUDE}\n${program}`, place, JSON.stringify(lease), JSON.stringify(other)],
      { ...ids, cwd: "/", encoding: "utf8", timeout: 60_000, env: { PATH: process.env["PATH"] } },
    );
    assert.equal(status, 0, stderr);
    return stdout;
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

const PRELUDE = `import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
const { openRuntimeFolder } = await import(${JSON.stringify(new URL("runtime-folder.ts", import.meta.url).href)});
const [path, ...leases] = process.argv.slice(1);
const [lease, other] = leases.map((text) => JSON.parse(text));
const runtimeFolder = openRuntimeFolder(path);
for (const one of [lease, other]) runtimeFolder.prepare(one, { owner: undefined, script: "echo script", hasOutputs: true });
const folder = runtimeFolder.pathOfTask(lease);
const close = () => {
  mkdirSync(join(folder, "a", "b"), { recursive: true });
  writeFileSync(join(folder, "a", "b", "x"), "");
  chmodSync(join(folder, "a", "b"), 0);
  mkdirSync(join(folder, "files", "c"), { recursive: true });
  writeFileSync(join(folder, "files", "c", "x"), "");
  chmodSync(join(folder, "files", "c"), 0o555);
};`;

test("a task's folder with closed and read-only folders is removed", () => {
  const left = asOrdinary(`close();
await runtimeFolder.removeSecretFiles(lease);
await runtimeFolder.remove(lease);
console.log(readdirSync(path).join());`);
  assert.equal(left, `${other.task}.1\n`);
});

test("a task's folder with a tree of many levels is removed", () => {
  const left = asOrdinary(`process.chdir(folder);
for (let level = 0; level < 1_500; level++) { mkdirSync("d"); process.chdir("d"); }
process.chdir("/");
await runtimeFolder.remove(lease);
console.log(readdirSync(path).join());`);
  assert.equal(left, `${other.task}.1\n`);
});

test("what an earlier delegate left is removed, whatever its modes, and what came meanwhile stays", () => {
  const left = asOrdinary(`close();
mkdirSync(join(path, "incoming"));
writeFileSync(join(path, "incoming", "old"), "");
const removed = runtimeFolder.removeOtherTasks([other]);
runtimeFolder.prepare(lease, { owner: undefined, script: "echo another", hasOutputs: false });
mkdirSync(join(path, "incoming"));
await removed;
console.log(readdirSync(path).join(), readdirSync(folder).join(), readdirSync(join(path, "incoming")).length);`);
  assert.equal(left, `incoming,${lease.task}.1,${other.task}.1 script.sh 0\n`);
});

test("masks are unknown when a step has put a pipe, a folder, a link or a large file in their place", () => {
  const path = mkdtempSync(join(tmpdir(), "railhead-masks-"));
  try {
    const runtimeFolder = openRuntimeFolder(path);
    runtimeFolder.prepare(lease, { owner: undefined, script: "echo script", hasOutputs: false });
    const masks = join(runtimeFolder.pathOfTask(lease), "masks");
    assert.equal(runtimeFolder.readMasksOf(lease), undefined);
    writeFileSync(masks, "c2VjcmV0\n");
    assert.deepEqual(runtimeFolder.readMasksOf(lease), [Buffer.from("secret")]);
    const elsewhere = join(path, "elsewhere");
    writeFileSync(elsewhere, "c2VjcmV0\n");
    for (const [program, ...args] of [
      ["mkfifo", masks],
      ["mkdir", masks],
      ["ln", "-s", elsewhere, masks],
      ["truncate", "-s", "65M", masks],
    ] as const) {
      rmSync(masks, { recursive: true });
      assert.equal(spawnSync(program, args).status, 0);
      assert.equal(runtimeFolder.readMasksOf(lease), undefined, program);
    }
  } finally {
    rmSync(path, { recursive: true, force: true });
  }
});
