import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLog } from "../testing/kit.ts";
import { createMasking } from "../output/masking.ts";
import { outcomeOf } from "./outcome.ts";
import { decideRecovery, type RecoveryFacts } from "./recovery.ts";

const running: RecoveryFacts = {
  hasMeta: true,
  isSameBoot: true,
  isCancelled: false,
  exit: undefined,
  isUnstarted: false,
  launcherAlive: true,
};
const exit = { code: 0, copied: true };
const reasonOf = (facts: Partial<RecoveryFacts>): string => {
  const decision = decideRecovery({ ...running, ...facts });
  assert.equal(decision.kind, "end");
  return decision.kind === "end" ? decision.lostBecause : "";
};

test("a step that runs is followed", () => {
  assert.deepEqual(decideRecovery(running), { kind: "watch" });
});

test("a recorded status is reported, also after the machine was restarted", () => {
  assert.equal(decideRecovery({ ...running, exit }).kind, "end");
  assert.equal(decideRecovery({ ...running, exit, launcherAlive: false, isSameBoot: false }).kind, "end");
});

test("a task that was being cancelled is cancelled", () => {
  assert.equal(decideRecovery({ ...running, isCancelled: true }).kind, "cancel");
  assert.equal(decideRecovery({ ...running, isCancelled: true, exit, launcherAlive: false }).kind, "cancel");
});

test("a lost task says why", () => {
  const launcherAlive = false;
  assert.match(reasonOf({ launcherAlive }), /launcher vanished/);
  assert.match(reasonOf({ launcherAlive, isSameBoot: false }), /machine was restarted/);
  assert.match(reasonOf({ launcherAlive, hasMeta: false, isSameBoot: false, isUnstarted: true }), /damaged/);
});

test("a task that was never started is given back, also after a restart of the machine", () => {
  for (const isSameBoot of [true, false]) {
    const decision = decideRecovery({ ...running, launcherAlive: false, isUnstarted: true, isSameBoot });
    assert.equal(decision.kind, "return");
  }
});

test("a step whose file of output variables is gone is refused, without a cause that is not known", () => {
  const lease = { task: "t".repeat(22), epoch: 1 };
  const meta = {
    ...{
      ...lease,
      cookie: "c",
      receivedAt: 0,
      receivedElapsed: 0,
      bootId: "b",
      owner: null,
      ending: "search" as const,
    },
    outputs: [{ name: "A", variable: "A" }],
  };
  const ended = { folder: "/missing", outputs: "/missing/outputs", lease, meta };
  assert.deepEqual(outcomeOf(ended, exit, { stepMask: createMasking().createStepMask("none"), log: silentLog() }), {
    kind: "refused",
    message:
      "its output variables are gone: their file in memory was removed, as by a restart of the machine, before the delegate could report them",
  });
});
