/**
 * A delegate of an ordinary user whose steps have no name spaces: they can change the delegate's files. A step may harm
 * its own run with that, and must not prevent the delegate from starting or from ending steps.
 */
import assert from "node:assert/strict";
import { chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, chmodSync } from "node:fs";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { readNotedWorkDir } from "../runtime-folder/unused-folders.ts";
import {
  assertEnded,
  createSignal,
  createSignalFolder,
  fileHolds,
  optionsFor,
  type Place,
  TOKEN,
} from "../testing/kit.ts";
import { newTaskId, startPretendServer } from "../testing/pretend-server.ts";

/** No other process of the machine has it. */
const UID = 0x6e80_0000 + process.pid;
const MAIN = new URL("../main.ts", import.meta.url).pathname;
const onlyAsRoot = { skip: process.getuid?.() === 0 ? false : "needs root, to start a delegate as another user" };

/** A server, a work folder of the user, and delegates started one after the other on it. */
async function begin(t: TestContext) {
  const place = mkdtempSync(join(tmpdir(), "railhead-shared-"));
  const at = (name: string): string => join(place, name);
  for (const name of ["data", "work"]) {
    mkdirSync(at(name));
    chownSync(at(name), UID, UID);
  }
  chmodSync(place, 0o755);
  const server = await startPretendServer();
  const work: Place = { path: at("work"), remove: () => {}, tasks: () => [] };
  const args = [
    MAIN,
    ...optionsFor(server, work),
    "--belongs-to",
    at("data"),
    "--allow-privilege-escalation",
    "--token",
    TOKEN,
  ];
  const memory = (): string | undefined =>
    readdirSync("/dev/shm")
      .map((name) => join("/dev/shm", name))
      .find((folder) => readNotedWorkDir(folder) === at("work"));
  let stop = (): Promise<unknown> => Promise.resolve();
  const start = async (): Promise<void> => {
    const welcome = server.nextWelcome();
    const delegate = spawn(process.execPath, args, {
      ...{ uid: UID, gid: UID, cwd: "/", env: { PATH: process.env["PATH"], HOME: place } },
      stdio: ["pipe", "ignore", "inherit"],
    });
    const ended = once(delegate, "exit");
    stop = () => {
      delegate.kill("SIGKILL");
      return ended;
    };
    const code: unknown = await Promise.race([welcome, ended]);
    assert.equal(code, undefined, "the delegate does not start");
  };
  t.after(async () => {
    const folder = memory();
    await stop();
    await server.close();
    rmSync(place, { recursive: true, force: true });
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  });
  await start();
  return { server, place: work, at, memory, kill: () => stop(), start };
}

/** What a step may leave at `$path`, where the delegate has or makes a file. */
const REMAINS = {
  "a closed file": 'chmod 000 "$path"',
  "a folder with a closed one": 'rm "$path"; mkdir -p "$path/closed/in"; chmod 000 "$path/closed" "$path"',
  "a closed folder at the name of an earlier version": 'mkdir -p "$path.new/closed/in"; chmod 000 "$path.new/closed"',
};

test("a delegate starts whatever a step has put in place of its notes", onlyAsRoot, async (t) => {
  const { server, at, memory, kill, start } = await begin(t);
  const notes = `"$(dirname "$(dirname "$0")")/work-folder" "${at("work")}/owner"`;
  for (const [what, leave] of Object.entries(REMAINS)) {
    const task = server.run({ script: `for path in ${notes}; do ${leave} || echo failed; done` });
    assert.deepEqual((await task.finished).outcome, { kind: "exited", exitCode: 0, outputs: [] }, what);
    assert.equal(task.output().toString(), "", what);
    await kill();
    await start();
    assert.notEqual(memory(), undefined, what);
    assert.equal(readFileSync(join(at("work"), "owner"), "utf8"), `${at("data")}\n`, what);
  }
});

/** How a step may spoil the files of its own run, in its folder. */
const SPOILS = {
  "a closed journal": "chmod 000 journal",
  "a folder instead of its journal": "rm journal; mkdir journal",
  "a moved journal": "mv journal other",
  "a closed output": "chmod 000 output",
  "a closed masked output": "chmod 000 masked masked-to",
};
const LOST = { kind: "lost", message: "The record of the task in the delegate's work folder is damaged." };

test("a step is cancelled whatever it has made of its journal and output", onlyAsRoot, async (t) => {
  const { server, place, kill, start } = await begin(t);
  const signs = createSignalFolder();
  t.after(signs.remove);
  const run = async (spoil: string) => {
    const lease = { task: newTaskId(), epoch: 1 };
    server.sendSecret(lease, 0, "value", "correct horse");
    const secrets = { uses: [{ as: "value" as const, label: "s" }], env: [{ name: "S0", parts: [0] }] };
    const script = `echo "$S0 pid=$$"; until [ -e go ]; do sleep 0.01; done; cd ..; ${spoil}; : >"${signs.path}/${lease.task}"; sleep inf`;
    const task = server.run({ script, secrets }, lease);
    await task.printed("pid=");
    createSignal(place, task, "go");
    await fileHolds(join(signs.path, lease.task), "");
    const [, pid] = /pid=(\d+)/.exec(task.output().toString()) ?? [];
    return { ...task, pid: Number(pid) };
  };
  const cancel = async ({ task, pid, finished, output }: Awaited<ReturnType<typeof run>>, what: string) => {
    server.send({ kind: "cancel", task, epoch: 1 });
    const { outcome } = await finished;
    assertEnded(pid, what);
    assert.doesNotMatch(output().toString(), /correct|horse/, what);
    return outcome;
  };
  const cancelled = { kind: "cancelled", survivors: "unknown" };
  for (const [what, spoil] of Object.entries(SPOILS))
    assert.deepEqual(await cancel(await run(spoil), what), cancelled, what);
  const restarted = await run(SPOILS["a closed masked output"]);
  await kill();
  await start();
  assert.deepEqual(await cancel(restarted, "the next delegate"), cancelled);
  // Its folder stays: no ordinary user can move a closed one.
  assert.deepEqual(await cancel(await run("chmod 000 ."), "a closed folder"), cancelled);
});

test("a step that ends after it has spoiled its journal is lost, and its end is known", onlyAsRoot, async (t) => {
  const { server } = await begin(t);
  for (const spoil of [SPOILS["a closed journal"], SPOILS["a moved journal"]]) {
    const { finished } = server.run({ script: `cd ..; ${spoil}` });
    assert.deepEqual((await finished).outcome, LOST, spoil);
  }
  // The launcher knows that its record cannot be read, and reports the end to the delegate.
  const { finished } = server.run({ script: "rm ../journal; exit 3" });
  assert.deepEqual((await finished).outcome, { kind: "exited", exitCode: 3, outputs: [] });
});
