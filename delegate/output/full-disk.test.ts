/**
 * A disk of the delegate that is full: a real small file system in memory. The header of output-channel.ts lists what
 * happens then.
 */
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { appendFileSync, chmodSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { ToServer } from "../../protocol/messages.ts";
import { END_NOT_REACHED } from "./output-variables.ts";
import { maxResultBytes, readRemoteResult } from "../remote/outputs.ts";
import { FEEDER } from "../remote/script.ts";
import type { Log } from "../log.ts";
import { paths } from "../task-folder/paths.ts";
import {
  connectDelegate,
  createPlace,
  createSignal,
  createSignalFolder,
  fileHolds,
  folderOf,
  optionsFor,
  type Place,
  silentLog,
  TOKEN,
} from "../testing/kit.ts";
import { newTaskId, startPretendServer } from "../testing/pretend-server.ts";
import { systemTimers, type Timers } from "../timers.ts";

const MAIN = new URL("../main.ts", import.meta.url).pathname;
const MOUNT = "/bin/mount";
const UMOUNT = "/bin/umount";
const DD = "/bin/dd";
const UNSHARE = "/usr/bin/unshare";
const NSENTER = "/usr/bin/nsenter";
const onlyAsRoot = {
  skip: process.getuid?.() === 0 ? false : "needs root: only then a small file system can be mounted",
};

test(
  "a step whose log does not fit on the disk goes on, and fails with the full disk as the reason",
  onlyAsRoot,
  async (t) => {
    const place = createPlace();
    execFileSync(MOUNT, ["-t", "tmpfs", "-o", "size=16m,mode=755", "railhead-test", place.path]);
    t.after(() => {
      execFileSync(UMOUNT, ["-l", place.path]);
      place.remove();
    });
    chmodSync(place.path, 0o755);
    const server = await startPretendServer();
    const delegate = await connectDelegate(server, place);
    const script = `echo first; until [ -e go ]; do sleep 0.02; done; dd if=/dev/zero of=fill bs=64k 2>/dev/null; head -c 1000000 /dev/zero | tr '\\0' x; echo "status $?" >&2; echo important; exit 0`;
    const task = server.run({ script });
    await task.printed("first\n");
    createSignal(place, task, "go");
    assert.deepEqual((await task.finished).outcome, {
      kind: "refused",
      message: "The log of the step is incomplete: the delegate's disk is full (ENOSPC).",
    });
    assert.match(task.output().toString(), /^first\n/);
    await delegate.stop();
    await server.close();
  },
);

/**
 * On a full disk the printed lines fit into the page that their file has. Masked they are longer and need another page.
 */
const SECRET = "pass-w0rd";
const LINES = 250;
const PRINT = `for n in $(seq ${LINES}); do echo "$n $S0"; done; exit 3`;
const MASKED = `begun\n${Array.from({ length: LINES }, (_, nth) => `${nth + 1} **************\n`).join("")}`;
const FULL_LOG = "The log of the step is incomplete: the delegate's disk is full (ENOSPC).";

/** A step on a small disk that has begun; the rest of its script runs after `goOn`. */
async function startOnSmallDisk(t: TestContext, rest: string, secret = SECRET) {
  const place = createPlace();
  execFileSync(MOUNT, ["-t", "tmpfs", "-o", "size=16m,mode=755", "railhead-test", place.path]);
  const server = await startPretendServer();
  const waits = Promise.withResolvers<void>();
  const warn = (_: unknown, words?: string): void => {
    if (words === "the end of a step waits for disk space") waits.resolve();
  };
  const log: Log = Object.assign(Object.create(silentLog()), { warn });
  let delegate = await connectDelegate(server, place, { log });
  t.after(async () => {
    // A launcher with words for a journal waits for space.
    rmSync(join(place.path, "others"), { force: true });
    await delegate.stop();
    await server.close();
    execFileSync(UMOUNT, ["-l", place.path]);
    place.remove();
  });
  chmodSync(place.path, 0o755);
  const lease = { task: newTaskId(), epoch: 1 };
  server.sendSecret(lease, 0, "value", secret);
  const secrets = { uses: [{ as: "value" as const, label: "s" }], env: [{ name: "S0", parts: [0] }] };
  const script = `echo begun; until [ -e go ]; do sleep 0.02; done; ${rest}`;
  const task = server.run({ script, secrets }, lease);
  await task.printed("begun\n");
  const restart = async (timers: Timers): Promise<void> => {
    await delegate.stop();
    delegate = await connectDelegate(server, place, { log, timers, pollMs: 50 });
  };
  return { place, server, task, waits: waits.promise, restart, goOn: () => createSignal(place, task, "go") };
}

/** Takes all space. Returns the file that has it. */
function fill(place: Place): string {
  const path = join(place.path, "others");
  const { status } = spawnSync(DD, ["if=/dev/zero", `of=${path}`, "bs=4k"], { stdio: "ignore" });
  assert.notEqual(status, 0);
  return path;
}

test("masked output that finds no space arrives once the step's own files are removed", onlyAsRoot, async (t) => {
  const { task, goOn } = await startOnSmallDisk(t, `dd if=/dev/zero of=own bs=4k 2>/dev/null; ${PRINT}`);
  goOn();
  assert.deepEqual((await task.finished).outcome, { kind: "exited", exitCode: 3, outputs: [] });
  assert.equal(task.output().toString(), MASKED);
});

test("masked output waits for space that others have taken, and arrives once", onlyAsRoot, async (t) => {
  const { place, task, waits, goOn } = await startOnSmallDisk(t, PRINT);
  const others = fill(place);
  goOn();
  await waits;
  rmSync(others);
  assert.deepEqual((await task.finished).outcome, { kind: "exited", exitCode: 3, outputs: [] });
  assert.equal(task.output().toString(), MASKED);
});

test(
  "a step whose masked output waits for space can be cancelled, and fails with that reason",
  onlyAsRoot,
  async (t) => {
    const { place, server, task, waits, goOn } = await startOnSmallDisk(t, PRINT);
    fill(place);
    goOn();
    await waits;
    server.send({ kind: "cancel", task: task.task, epoch: 1 });
    assert.deepEqual((await task.finished).outcome, { kind: "refused", message: FULL_LOG });
    const output = task.output().toString();
    assert.ok(MASKED.startsWith(output) && output.length < MASKED.length, output);
  },
);

test("a secret that a full disk cuts off is not shown in part", onlyAsRoot, async (t) => {
  const value = randomBytes(225).toString("base64url");
  const print = `for n in $(seq 900); do echo "$n $S0"; done; until [ -e end ]; do sleep 0.02; done`;
  const { place, task, goOn } = await startOnSmallDisk(t, print, value);
  const others = fill(place);
  goOn();
  // The page that the file has ends after 144 of the 300 letters in the fourteenth line.
  await fileHolds(paths(folderOf(place, task)).journal, "cut ENOSPC");
  rmSync(others);
  createSignal(place, task, "end");
  assert.deepEqual((await task.finished).outcome, { kind: "refused", message: FULL_LOG });
  const lines = Array.from({ length: 14 }, (_, nth) => `${nth + 1} **************`);
  assert.equal(task.output().toString(), ["begun", ...lines].join("\n"));
});

const PAGE = 4096;

/** The next word of the journal begins before the end of a page, and needs another one. */
function fillPage(journal: string): void {
  appendFileSync(journal, `${"x".repeat(2 * PAGE - 4 - (statSync(journal).size % PAGE))}\n`);
}

test("a delegate that starts before the cut is recorded shows no beginning of the secret", onlyAsRoot, async (t) => {
  const value = randomBytes(225).toString("base64url");
  const shown = ".".repeat(PAGE - "begun\n".length - 40);
  const print = `head -c ${shown.length} /dev/zero | tr '\\0' .; echo "$S0"; until [ -e end ]; do sleep 0.02; done`;
  const { place, task, goOn, restart } = await startOnSmallDisk(t, print, value);
  const { journal, output } = paths(folderOf(place, task));
  let looks = Number.NEGATIVE_INFINITY;
  const isDue = Promise.withResolvers<void>();
  await restart({
    ...systemTimers,
    after: (ms, run) =>
      systemTimers.after(ms, () => {
        run();
        if (ms === 50 && ++looks === 10) isDue.resolve();
      }),
  });
  fillPage(journal);
  const others = fill(place);
  goOn();
  await fileHolds(output, value.slice(0, 40));
  // Ten looks at the task, 50 ms apart: the beginning of a secret waits for 100 ms.
  looks = 0;
  await isDue.promise;
  rmSync(others);
  createSignal(place, task, "end");
  assert.deepEqual((await task.finished).outcome, { kind: "refused", message: FULL_LOG });
  assert.equal(task.output().toString(), `begun\n${shown}**************`);
});

test("a step whose end finds no space in its journal is reported with its exit code", onlyAsRoot, async (t) => {
  const { place, task, goOn } = await startOnSmallDisk(t, "exit 3");
  const { journal } = paths(folderOf(place, task));
  fillPage(journal);
  fill(place);
  goOn();
  assert.deepEqual((await task.finished).outcome, { kind: "exited", exitCode: 3, outputs: [] });
  assert.equal(task.output().toString(), "begun\n");
});

test(
  "a delegate short of space gives tasks back, says so, and takes them again once there is space",
  onlyAsRoot,
  async (t) => {
    const place = createPlace();
    execFileSync(MOUNT, ["-t", "tmpfs", "-o", "size=16m,mode=755", "railhead-test", place.path]);
    t.after(() => {
      execFileSync(UMOUNT, ["-l", place.path]);
      place.remove();
    });
    const server = await startPretendServer();
    const delegate = await connectDelegate(server, place);
    const fill = join(place.path, "fill");
    writeFileSync(fill, Buffer.alloc(15.9 * 1024 * 1024));
    const messages: ToServer[] = [];
    const said = server.next((message) => {
      messages.push(message);
      return message.kind === "returned";
    });
    const { task } = server.run({ script: "echo here" });
    const returned = await said;
    assert.ok(returned.kind === "returned" && returned.task === task);
    assert.match(
      returned.reason,
      /^The delegate is short of disk space: \d+ KiB are free in .*, and 819 KiB are needed\.$/,
    );
    // Before the task comes back the server knows that there is no use in sending it again.
    assert.deepEqual(
      messages.map(({ kind }) => kind),
      ["heartbeat", "returned"],
    );
    assert.match(JSON.stringify(messages[0]), /is short of disk space/);
    assert.deepEqual(place.tasks(), []);
    const recovered = server.next((message) => message.kind === "heartbeat" && message.unavailable === undefined);
    rmSync(fill);
    await recovered;
    const again = server.run({ script: "echo here" });
    await again.finished;
    assert.equal(again.output().toString(), "here\n");
    await delegate.stop();
    await server.close();
  },
);

test(
  "a step whose output variables do not fit into memory fails with that as the reason; small ones arrive",
  onlyAsRoot,
  async (t) => {
    const place = createPlace();
    const signs = createSignalFolder();
    const server = await startPretendServer();
    const begin = "mount -t tmpfs -o size=8m,mode=1777 railhead-test /dev/shm && echo mounted && exec sleep inf";
    const holder = spawn(UNSHARE, ["--mount", "sh", "-c", begin]);
    await once(holder.stdout, "data");
    const begun: { readonly kill: () => void; readonly ended: Promise<unknown> }[] = [];
    const start = () => {
      const args = [MAIN, ...optionsFor(server, place), "--slots", "9", "--token", TOKEN];
      const command = [`--mount=/proc/${holder.pid}/ns/mnt`, process.execPath, ...args];
      const child = spawn(NSENTER, command, { stdio: ["pipe", "ignore", "inherit"] });
      const delegate = { kill: () => void child.kill("SIGKILL"), ended: once(child, "exit") };
      begun.push(delegate);
      return delegate;
    };
    const first = start();
    t.after(async () => {
      for (const { kill, ended } of begun) {
        kill();
        await ended;
      }
      holder.kill("SIGKILL");
      await server.close();
      place.remove();
      signs.remove();
    });
    await server.welcomed();
    const wait = (sign: string): string => `until [ -e "${signs.path}/${sign}" ]; do sleep 0.02; done`;
    const give = (sign: string): void => writeFileSync(join(signs.path, sign), "");
    const outputs = [{ name: "x", variable: "X" }];
    const large = "X=$(head -c 20000 /dev/zero | tr '\\0' y)";
    const victim = (script: string, sign = "full") =>
      server.run({ script: `echo begun; ${wait(sign)}; ${script}`, outputs });
    const victims = [
      victim("X=small", "first"),
      victim(large),
      victim(`${large}; (exit 7)`),
      victim(`${large}; exit 0`),
      victim(`${large}; exec true`),
    ];
    for (const { printed } of victims) await printed("begun");
    const fill = "for size in 4096 1; do dd if=/dev/zero bs=$size >>/dev/shm/fill 2>/dev/null; done";
    const refill = `while [ -e "${signs.path}" ] && [ ! -e "${signs.path}/end" ]; do ${fill}; echo again; sleep 0.02; done`;
    const filler = server.run({ script: `${fill}; echo full; ${wait("refill")}; ${refill}` });
    await filler.printed("full");
    give("first");
    assert.deepEqual((await victims[0]?.finished)?.outcome, {
      kind: "exited",
      exitCode: 0,
      outputs: [{ name: "x", value: "small" }],
    });
    give("refill");
    await filler.printed("again\nagain\n");
    // A delegate that is killed while memory is full comes back.
    const left = server.disconnected();
    first.kill();
    await first.ended;
    await left;
    const second = start();
    const code: unknown = await Promise.race([server.welcomed(), second.ended]);
    assert.equal(Array.isArray(code), false, "the delegate does not start while memory is full");
    give("full");
    const outcomes = await Promise.all(victims.slice(1).map(async ({ finished }) => (await finished).outcome));
    give("end");
    assert.deepEqual(outcomes, [
      {
        kind: "refused",
        message:
          "its output variables could not be written: the end of its log has the reason, as that the delegate's file system in memory is full",
      },
      { kind: "exited", exitCode: 7, outputs: [] },
      { kind: "exited", exitCode: 0, outputs: [] },
      { kind: "exited", exitCode: 0, outputs: [] },
    ]);
    assert.match(victims[1]?.output().toString() ?? "", /write error: No space left on device/);
  },
);

test(
  "what a host sends back is emptied, and so told from a whole one, when it cannot be written",
  onlyAsRoot,
  async (t) => {
    const place = createPlace();
    execFileSync(MOUNT, ["-t", "tmpfs", "-o", "size=1m,mode=755", "railhead-test", place.path]);
    t.after(() => {
      execFileSync(UMOUNT, ["-l", place.path]);
      place.remove();
    });
    const [feeder, payload, outputs] = ["feeder", "payload", "outputs"].map((name) => join(place.path, name));
    assert.ok(feeder && payload && outputs);
    writeFileSync(feeder, FEEDER);
    writeFileSync(payload, "");
    writeFileSync(outputs, END_NOT_REACHED);
    const most = maxResultBytes([{ name: "x", variable: "X" }]);
    const run = (...ssh: readonly string[]): number | null =>
      spawnSync("bash", [feeder, payload, outputs, String(most), ...ssh], { stdio: "ignore" }).status;
    assert.equal(run("bash", "-c", "head -c 66000000 /dev/zero; exit 5"), 5);
    assert.equal(statSync(outputs).size, most + 1);
    assert.deepEqual(readRemoteResult(outputs, "cookie", []), { kind: "tooMuch" });
    writeFileSync(outputs, END_NOT_REACHED);
    writeFileSync(join(place.path, "fill"), Buffer.alloc(800 * 1024));
    assert.equal(run("bash", "-c", "head -c 500000 /dev/zero; exit 5"), 5);
    assert.deepEqual(readRemoteResult(outputs, "cookie", []), { kind: "unwritten" });
  },
);
