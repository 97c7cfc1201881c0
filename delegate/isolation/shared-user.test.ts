/**
 * A delegate of an ordinary user whose steps have no name spaces: they can change the delegate's files. A step may harm its
 * own run with that, and must not prevent the delegate from starting or from ending steps.
 */
import assert from "node:assert/strict";
import { chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, chmodSync } from "node:fs";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { readNotedWorkDir } from "../runtime-folder/unused-folders.ts";
import { optionsFor, TOKEN } from "../testing/kit.ts";
import { startPretendServer } from "../testing/pretend-server.ts";

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
  const options = optionsFor(server, { path: at("work"), remove: () => {}, tasks: () => [] });
  const args = [MAIN, ...options, "--belongs-to", at("data"), "--allow-privilege-escalation", "--token", TOKEN];
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
  return { server, at, memory, kill: () => stop(), start };
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
