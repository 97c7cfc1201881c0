/** A delegate that is killed while its disk is full starts again, and frees the space: a real small file system. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { FIRST_ID } from "../isolation/step-ids.ts";
import { openStepIdsWithSpace } from "../isolation/deferred-step-ids.ts";
import { createPlace, createSignalFolder, fileHolds, optionsFor, TOKEN } from "../testing/kit.ts";
import { startPretendServer } from "../testing/pretend-server.ts";

const MAIN = new URL("../main.ts", import.meta.url).pathname;
const MOUNT = "/bin/mount";
const UMOUNT = "/bin/umount";
const UNSHARE = "/usr/bin/unshare";
const NSENTER = "/usr/bin/nsenter";
const HOME = "/var/lib/railhead-delegate";
const onlyAsRoot = {
  skip: process.getuid?.() === 0 ? false : "needs root: only then a small file system can be mounted",
};

/** What is mounted at `$1`, and what fills it. */
type FileSystem = { readonly mount: string; readonly fill: string };

const withoutSpace: FileSystem = {
  mount: 'mount -t tmpfs -o size=4m,mode=755 railhead-test "$1"',
  fill: "for size in 4096 1; do dd if=/dev/zero bs=$size >>fill 2>/dev/null; done",
};
const withoutInodes: FileSystem = {
  mount: 'mount -t tmpfs -o size=64m,nr_inodes=250,mode=755 railhead-test "$1"',
  fill: "n=0; while : >f$n; do n=$((n + 1)); done 2>/dev/null",
};
const withoutBlocks: FileSystem = {
  mount: 'truncate -s 8m /run/disk && mkfs.ext4 -q -m 0 /run/disk && mount -o loop /run/disk "$1"',
  fill: "for size in 4096 1; do dd if=/dev/zero bs=$size >>fill 2>/dev/null; done; n=0; while mkdir d$n && echo >d$n/f; do n=$((n + 1)); done 2>/dev/null",
};

test(
  "a delegate that was killed with no space left starts, reports what has ended, frees the space and takes steps",
  onlyAsRoot,
  (t) => recoversOn(withoutSpace, t),
);

test("the same with no inodes left", onlyAsRoot, (t) => recoversOn(withoutInodes, t));

test("the same with no blocks of ext4 left", onlyAsRoot, (t) => recoversOn(withoutBlocks, t));

async function recoversOn({ mount, fill }: FileSystem, t: TestContext): Promise<void> {
  const place = createPlace();
  const signs = createSignalFolder();
  const server = await startPretendServer();
  // Work folder and registry of user ids are on the full disk.
  const memory = "for path in /run /dev/shm; do mount -t tmpfs -o size=16m,mode=1777 railhead-test $path; done";
  const prepare = `mkdir -p "$1" && ${memory} && ${mount}`;
  const begin = `set -e; { ${prepare}; } && chmod 755 "$1" && echo mounted && exec sleep inf`;
  const holder = spawn(UNSHARE, ["--mount", "sh", "-c", begin, "sh", HOME]);
  const begun: { readonly kill: () => Promise<unknown>; readonly ended: Promise<unknown> }[] = [];
  t.after(async () => {
    for (const { kill } of begun) await kill();
    holder.kill("SIGKILL");
    await server.close();
    signs.remove();
    place.remove();
  });
  const [text] = (await Promise.race([once(holder.stdout, "data"), once(holder.stdout, "end")])) as Buffer[];
  if (text === undefined && mount.includes("ext4")) return t.skip("this machine cannot mount an image of ext4");
  assert.equal(String(text), "mounted\n");
  const start = () => {
    const inside = { ...place, path: join(HOME, "w") };
    const args = [MAIN, ...optionsFor(server, inside), "--belongs-to", place.path, "--token", TOKEN];
    const command = [`--mount=/proc/${holder.pid}/ns/mnt`, process.execPath, ...args];
    const child = spawn(NSENTER, command, { stdio: ["pipe", "ignore", "ignore"] });
    const ended = once(child, "exit");
    const delegate = {
      ended,
      kill: () => {
        child.kill("SIGKILL");
        return ended;
      },
    };
    begun.push(delegate);
    return delegate;
  };
  const wait = (sign: string): string => `until [ -e "${signs.path}/${sign}" ]; do sleep 0.02; done`;
  const give = (sign: string): void => writeFileSync(join(signs.path, sign), "");

  const first = start();
  await server.welcomed();
  const early = server.run({ script: `echo begun; ${wait("first")}; exit 4` });
  const filler = server.run({
    script: `echo begun; ${wait("fill")}; ${fill}; echo full; sleep inf & ${wait("end")}`,
  });
  for (const { printed } of [early, filler]) await printed("begun\n");
  give("fill");
  await filler.printed("full\n");
  const left = server.disconnected();
  await first.kill();
  await left;
  give("first");
  const journal = `${HOME}/w/tasks/${early.task}.1/journal`;
  await fileHolds(join(`/proc/${holder.pid}/root`, journal), "copied 0");

  const second = start();
  const code: unknown = await Promise.race([server.welcomed(), second.ended]);
  assert.equal(Array.isArray(code), false, "the delegate does not start on a full disk");
  assert.match(server.hellos.at(-1)?.unavailable ?? "", /^is short of disk space/);
  const end = async ({ finished }: typeof filler) => (await finished).outcome;
  assert.deepEqual(await end(early), { kind: "exited", exitCode: 4, outputs: [] });
  const recovered = server.next((message) => message.kind === "heartbeat" && message.unavailable === undefined);
  give("end");
  assert.deepEqual(await end(filler), { kind: "exited", exitCode: 0, outputs: [] });
  await recovered;
  const again = server.run({ script: "id -un" });
  await again.finished;
  assert.match(again.output().toString(), /^railhead-step/);
}

for (const [what, option] of Object.entries({ space: "size=64k", inodes: "size=1m,nr_inodes=4" }))
  test(`user ids are claimed once the registry has ${what} again`, onlyAsRoot, (t) => {
    const place = createPlace();
    const mounted = spawnSync(MOUNT, ["-t", "tmpfs", "-o", option, "railhead-test", place.path]);
    assert.equal(mounted.status, 0);
    t.after(() => {
      spawnSync(UMOUNT, ["-l", place.path]);
      place.remove();
    });
    const fill = join(place.path, "fill");
    const folder = join(place.path, "ids");
    mkdirSync(folder);
    writeFileSync(fill, "");
    // The registry itself finds its inode, and its journal none.
    if (what === "space") assert.throws(() => writeFileSync(fill, Buffer.alloc(1024 * 1024)), /ENOSPC/);
    const claim = {
      registry: join(folder, "registry"),
      workDir: place.path,
      identity: "i",
      chance: () => 0,
      foreign: [],
      alive: new Set<number>(),
      isNamed: true,
    };
    const ids = openStepIdsWithSpace(claim);
    ids.reserve(FIRST_ID);
    assert.equal(ids.fullFolder(), folder);
    assert.equal(ids.named(), undefined);
    assert.throws(() => ids.allocate(), { code: "ENOSPC" });
    rmSync(fill);
    assert.equal(ids.allocate(), FIRST_ID + 1);
    assert.equal(ids.fullFolder(), undefined);
    assert.equal(ids.named()?.[0], FIRST_ID);
    assert.ok(existsSync(claim.registry));
  });
