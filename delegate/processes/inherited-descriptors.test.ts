import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createPlace, optionsFor, TOKEN } from "../testing/kit.ts";
import { startPretendServer } from "../testing/pretend-server.ts";

const MAIN = new URL("../main.ts", import.meta.url).pathname;

test("descriptors that the starting program left open reach neither the delegate nor a step", async (t) => {
  const place = createPlace();
  const server = await startPretendServer();
  const lock = join(place.path, "lock");
  // As a shell does: a lock behind a high descriptor, and one that Node itself would keep from its children.
  const script = 'exec 200>"$0" 5<"$0"; flock 200; exec "$@"';
  const delegate = spawn(
    "bash",
    ["-c", script, lock, process.execPath, MAIN, ...optionsFor(server, place), "--token", TOKEN],
    { stdio: ["pipe", "ignore", "ignore"], env: { PATH: process.env["PATH"] } },
  );
  const ended = once(delegate, "exit");
  t.after(async () => {
    delegate.kill("SIGKILL");
    await ended;
    await server.close();
    place.remove();
  });
  await server.welcomed();
  const task = server.run({ script: 'for n in {3..255}; do [ ! -e "/proc/$$/fd/$n" ] || echo "$n"; done; echo end' });
  await task.finished;
  assert.equal(task.output().toString(), "end\n");
  assert.equal(existsSync(`/proc/${delegate.pid}/fd/200`), false);
  assert.equal(spawnSync("bash", ["-c", 'exec 9>"$0"; flock -n 9', lock]).status, 0, "the lock is still held");
  assert.equal(delegate.exitCode, null);
});
