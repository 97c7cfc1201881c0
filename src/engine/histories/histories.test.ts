import assert from "node:assert/strict";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import type { Event, Plan, Transition } from "../model.ts";
import { SCENARIOS, type Scenario } from "../testing/histories.ts";
import { play } from "../testing/plans.ts";

/**
 * Recorded histories of executions. A run that is in flight during an upgrade
 * must go on as it began, so a change of the engine that makes one of these fail
 * is wrong, or needs a decision record. `RAILHEAD_RECORD=1` writes the files anew
 * from testing/histories.ts; format them and read the diff before it is committed.
 */
type History = Scenario & { readonly transitions: readonly Transition[] };

const folder = new URL("./", import.meta.url);
const pathOf = (name: string): URL => new URL(`${name}.json`, folder);

if (process.env["RAILHEAD_RECORD"] === "1") {
  for (const scenario of SCENARIOS) {
    const history: History = { ...scenario, transitions: play(scenario.plan, scenario.events) };
    writeFileSync(pathOf(scenario.name), `${JSON.stringify(history, null, 2)}\n`);
  }
}

const recorded = readdirSync(folder)
  .filter((name) => name.endsWith(".json"))
  .map((name) => name.slice(0, -".json".length));

test("every scenario is recorded", () => {
  assert.deepEqual(
    SCENARIOS.map(({ name }) => name).filter((name) => !recorded.includes(name)),
    [],
    "Record it with RAILHEAD_RECORD=1.",
  );
});

for (const name of recorded) {
  test(`the engine goes the recorded way: ${name}`, () => {
    const history = JSON.parse(readFileSync(pathOf(name), "utf8")) as {
      plan: Plan;
      events: Event[];
      transitions: Transition[];
    };
    const transitions = play(history.plan, history.events);
    assert.equal(transitions.length, history.transitions.length);
    for (const [index, transition] of transitions.entries()) {
      assert.deepEqual(
        transition,
        history.transitions[index],
        `at event ${index}: ${JSON.stringify(history.events[index])}`,
      );
    }
  });

  test(`a run in flight can be taken over from its stored state at any event: ${name}`, () => {
    const history = JSON.parse(readFileSync(pathOf(name), "utf8")) as {
      plan: Plan;
      events: Event[];
      transitions: Transition[];
    };
    for (const [index, { state }] of history.transitions.entries()) {
      const rest = play(history.plan, history.events.slice(index + 1), state);
      assert.deepEqual(rest, history.transitions.slice(index + 1));
    }
  });
}
