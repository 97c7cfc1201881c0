import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { withDescendants } from "./members.ts";
import {
  environmentHas,
  livingProcesses,
  parseStat,
  processesOfUser,
  type ProcessInfo,
  processInfo,
} from "./processes.ts";

test("a process's name may hold spaces and parentheses", () => {
  const text = "12 (a) S 1 (b) R 7 8 9 34816 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5555 0 0\n";
  assert.deepEqual(parseStat(12, text), {
    pid: 12,
    parent: 7,
    group: 8,
    session: 9,
    hasTerminal: true,
    startTime: "5555",
    isZombie: false,
  });
  assert.equal(parseStat(12, ""), undefined);
});

test("this process is found, an ended one is not", () => {
  assert.equal(processInfo(process.pid)?.parent, process.ppid);
  assert.ok(livingProcesses(process.pid).some(({ pid }) => pid === process.pid));
  assert.equal(processInfo(2 ** 30), undefined);
});

test("the processes of a user are found from a number up, without their threads", async (t) => {
  const child = spawn(process.execPath, ["-e", "process.stdin.resume()"], { stdio: ["pipe", "ignore", "ignore"] });
  t.after(() => child.kill());
  await once(child, "spawn");
  const pid = child.pid ?? assert.fail();
  const uid = process.getuid?.() ?? assert.fail();
  const threads = (): number[] => readdirSync(`/proc/${pid}/task`).map(Number);
  while (threads().length < 2) await nextTurn();
  const find = (of: number, lowest: number): readonly number[] => processesOfUser(of, lowest).map((info) => info.pid);
  for (const lowest of [pid, 2]) {
    assert.deepEqual(
      find(uid, lowest).filter((found) => threads().includes(found)),
      [pid],
    );
    assert.deepEqual(find(0x7fff_fff0, lowest), []);
  }
  // No number is as high: as after pids have wrapped around.
  assert.deepEqual(find(uid, 2 ** 30), []);
  child.stdin.end();
  await once(child, "exit");
  assert.equal(find(uid, pid).includes(pid), false);
});

test("a text is found in an environment larger than one read", async () => {
  const filler = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`F${n}`, "f".repeat(100_000 + n * 997)]));
  const child = spawn("cat", {
    env: { ...filler, RAILHEAD_TASK: "findme", Z: "z".repeat(70_000) },
    stdio: ["pipe", "ignore", "ignore"],
  });
  await once(child, "spawn");
  const pid = child.pid ?? assert.fail();
  assert.equal(environmentHas(pid, "RAILHEAD_TASK=findme"), true);
  assert.equal(environmentHas(pid, "RAILHEAD_TASK=other"), false);
  child.stdin.end();
  await once(child, "exit");
});

test("a family is its roots and all that descend from them", () => {
  const make = (pid: number, parent: number): ProcessInfo => ({
    pid,
    parent,
    group: 0,
    session: 0,
    hasTerminal: false,
    startTime: "1",
    isZombie: false,
  });
  const all = [make(9, 5), make(2, 1), make(3, 2), make(5, 3), make(7, 1)];
  const ids = (roots: readonly number[]) =>
    withDescendants(
      all,
      all.filter(({ pid }) => roots.includes(pid)),
    )
      .map(({ pid }) => pid)
      .toSorted((a, b) => a - b);
  assert.deepEqual(ids([3]), [3, 5, 9]);
  assert.deepEqual(ids([5, 3]), [3, 5, 9]);
  assert.deepEqual(ids([7]), [7]);
  assert.deepEqual(ids([]), []);
});
