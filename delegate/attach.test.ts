import assert from "node:assert/strict";
import { test } from "node:test";
import { decide, type Facts } from "./attach.ts";

const running: Facts = {
  hasMeta: true,
  isSameBoot: true,
  isCancelled: false,
  exit: undefined,
  pidRecorded: true,
  supervisorAlive: true,
};
const exit = { code: 0, copied: true };
const reasonOf = (facts: Partial<Facts>): string => {
  const decision = decide({ ...running, ...facts });
  assert.equal(decision.kind, "end");
  return decision.kind === "end" ? decision.lostBecause : "";
};

test("a step that runs is followed", () => {
  assert.deepEqual(decide(running), { kind: "watch" });
  assert.deepEqual(decide({ ...running, pidRecorded: false }), { kind: "watch" });
});

test("a recorded status is reported, also after the machine was restarted", () => {
  assert.equal(decide({ ...running, exit }).kind, "end");
  assert.equal(decide({ ...running, exit, supervisorAlive: false, isSameBoot: false }).kind, "end");
});

test("a task that was being cancelled is cancelled", () => {
  assert.equal(decide({ ...running, isCancelled: true }).kind, "cancel");
  assert.equal(decide({ ...running, isCancelled: true, exit, supervisorAlive: false }).kind, "cancel");
});

test("a lost task says why", () => {
  const supervisorAlive = false;
  assert.match(reasonOf({ supervisorAlive }), /runner vanished/);
  assert.match(reasonOf({ supervisorAlive, isSameBoot: false }), /machine was restarted/);
  assert.match(reasonOf({ supervisorAlive, pidRecorded: false }), /before it could start/);
  assert.match(reasonOf({ supervisorAlive, hasMeta: false, isSameBoot: false, pidRecorded: false }), /damaged/);
});
