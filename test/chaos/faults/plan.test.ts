import assert from "node:assert/strict";
import { test } from "node:test";
import { SMALL_DISK } from "../names.ts";
import { describeFault, createPlan, type Fault } from "./plan.ts";
import { createRandom } from "../random.ts";

const planOf = (seed: number, seconds = 120, canMount = true): readonly Fault[] =>
  createPlan({ seconds, random: createRandom(seed), canMount });
const textOf = (plan: readonly Fault[]): string =>
  plan.map((fault) => `${fault.at} ${describeFault(fault)}`).join("\n");

test("equal seeds give equal plans, different seeds different plans", () => {
  assert.equal(textOf(planOf(7)), textOf(planOf(7)));
  assert.notEqual(textOf(planOf(7)), textOf(planOf(8)));
});

test("faults end before the run, and two faults of the same target do not overlap", () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const free = new Map<string, number>();
    for (const fault of planOf(seed, 300)) {
      assert.ok(fault.seconds >= 0 && fault.at + fault.seconds <= 298, `seed ${seed}: ${describeFault(fault)}`);
      if (fault.kind === "clock") continue;
      assert.ok(fault.at >= (free.get(fault.target) ?? 0), `seed ${seed}: ${fault.at} ${describeFault(fault)}`);
      free.set(fault.target, fault.at + fault.seconds);
    }
  }
});

test("two minutes contain one outage of more than a minute, not of a delegate", () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const long = planOf(seed).filter(({ seconds }) => seconds > 60);
    assert.equal(long.length, 1, `seed ${seed}`);
    assert.doesNotMatch(long[0]?.target ?? "delegate", /delegate/);
  }
});

test("an hour has every kind of fault; its outages last up to two minutes, including those of delegates", () => {
  const plan = planOf(1, 3_600);
  assert.deepEqual([...new Set(plan.map(({ kind }) => kind))].toSorted(), [
    "blackhole",
    "clock",
    "cut",
    "fill disk",
    "kill",
    "kill backend",
    "kill database",
    "kill launcher",
    "restart",
    "stall",
    "stop",
    "stop launcher",
    "wrong epochs",
  ]);
  const long = plan.filter(({ seconds }) => seconds > 60);
  assert.ok(long.every(({ seconds }) => seconds <= 120));
  assert.ok(long.some(({ target }) => target.startsWith("delegate")));
  assert.ok(long.some(({ target }) => !target.startsWith("delegate")));
});

test("the two minutes that CI runs have every kind of fault", () => {
  assert.equal(
    new Set(planOf(847).map(({ kind }) => kind)).size,
    new Set(planOf(1, 3_600).map(({ kind }) => kind)).size,
  );
});

test("each jump of a clock is one hour", () => {
  const minutes = new Map<string, number>();
  for (const fault of planOf(5, 3_600)) {
    if (fault.kind !== "clock") continue;
    assert.equal(Math.abs(fault.minutes - (minutes.get(fault.target) ?? 0)), 60);
    minutes.set(fault.target, fault.minutes);
  }
  assert.equal(minutes.size, 2);
});

test("without a separate file system no disk is filled", () => {
  const filled = (canMount: boolean): readonly Fault[] =>
    planOf(1, 3_600, canMount).filter(({ kind }) => kind === "fill disk");
  assert.deepEqual(filled(false), []);
  assert.ok(filled(true).length > 0 && filled(true).every(({ target }) => target === SMALL_DISK));
});
