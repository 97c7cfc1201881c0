import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { systemTimers, type Timers } from "../timers.ts";
import { processInfo } from "./processes.ts";
import { terminateProcesses } from "./terminate.ts";

test("the processes of a name space are found after its leader has ended", async (t) => {
  // Each process waits for its child; the last one ignores TERM.
  const script = `bash -c 'bash -c "trap \\"\\" TERM; echo \\$\\$; sleep infinity & wait; wait"; true'; true`;
  const leader = spawn("bash", ["-c", script], { stdio: ["ignore", "pipe", "ignore"], detached: true });
  const pid = leader.pid ?? assert.fail();
  t.after(() => {
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // All have ended.
    }
  });
  const [line] = (await once(leader.stdout, "data")) as [Buffer];
  const last = Number(line.toString());
  const { startTime } = processInfo(pid) ?? assert.fail();
  const ended = once(leader, "exit");
  // The leader ends while the others are waited for.
  const timers: Timers = {
    ...systemTimers,
    after: (ms, run) => {
      leader.kill("SIGKILL");
      void ended.then(() => systemTimers.after(ms, run));
      return () => {};
    },
  };
  const remaining = await terminateProcesses(
    {
      target: {
        leader: { pid, startTime },
        cookie: "none",
        owner: undefined,
        sessions: new Set(),
        folder: "/nonexistent",
        ageMs: 0,
      },
      method: "namespace",
      mayGainPrivileges: false,
      killUser: () => Promise.resolve(false),
    },
    { timers, graceMs: 20, drainMs: 20_000 },
  );
  assert.equal(remaining, 0);
  const left = processInfo(last);
  assert.ok(left === undefined || left.isZombie, "the last process has ended");
});
