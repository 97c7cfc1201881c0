import assert from "node:assert/strict";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import type { Effect, Event, NodeState, Plan, State } from "../model.ts";
import { SCENARIOS, type Scenario } from "../testing/histories.ts";
import { engine, type Execution, give, initial } from "../testing/plans.ts";
import { formatOf, upgrade, upgradePlan } from "../upgrade.ts";

/**
 * Recorded histories of executions. A run that is in flight during an upgrade
 * must go on as it began, so a change of the engine that makes one of these fail
 * is wrong, or needs a decision record. `RAILHEAD_RECORD=1` writes the files of `format-2` anew
 * from testing/histories.ts; format them and read the diff before it is committed. Those of `format-1` were recorded by
 * the version that wrote that format and are never written again.
 *
 * Compared are the effects and what people see of the state, so that a new field invalidates no history.
 */
type Recorded = {
  readonly plan: unknown;
  readonly events: readonly Event[];
  readonly transitions: readonly {
    readonly state: unknown;
    readonly nodes?: readonly NodeState[];
    readonly effects: readonly Effect[];
  }[];
};

const folder = new URL("./", import.meta.url);

if (process.env["RAILHEAD_RECORD"] === "1") for (const scenario of SCENARIOS) record(scenario);

function record({ name, plan, events }: Scenario): void {
  let execution = initial(plan);
  const transitions = events.map((event) => {
    const { effects, isChanged: _, ...after } = give(plan, execution, event);
    execution = after;
    return { state: after.state, nodes: [...after.nodes.values()], effects };
  });
  writeFileSync(
    new URL(`format-2/${name}.json`, folder),
    `${JSON.stringify({ name, plan, events, transitions }, null, 2)}\n`,
  );
}

const filesOf = (format: string): readonly string[] =>
  readdirSync(new URL(`${format}/`, folder)).map((name) => `${format}/${name}`);

const files = [...filesOf("format-1"), ...filesOf("format-2")];

test("every scenario is recorded", () => {
  const missing = SCENARIOS.filter(({ name }) => !files.includes(`format-2/${name}.json`));
  assert.deepEqual(missing, [], "Record it with RAILHEAD_RECORD=1.");
});

/** In format 1 timers had no purpose, and an attempt in place of it. */
const eventOf = (event: Event): Event =>
  event.kind === "timerFired" ? { ...event, purpose: event.purpose ?? "timeout" } : event;

function effectOf(effect: Effect): unknown {
  if (effect.kind !== "startTimer" && effect.kind !== "stopTimer") return effect;
  const { attempt: _, ...rest } = effect as Effect & { readonly attempt?: number };
  return { purpose: "timeout", ...rest };
}

/** What a recorded transition left, as the engine of today has it. */
function executionOf(plan: unknown, { state, nodes = [] }: Recorded["transitions"][number]): Execution {
  if (formatOf(plan) === 1) return upgrade({ plan, state });
  return { state: state as State, nodes: new Map(nodes.map((node) => [node.id, node])) };
}

/** What people see of it. Format 1 marked also what it had not reached as skipped. */
function shown({ state, nodes }: Execution): unknown {
  const reached = [...nodes.values()].filter(({ startedAt, status }) => startedAt !== null || status !== "skipped");
  return {
    ...{ status: state.status, startedAt: state.startedAt, endedAt: state.endedAt, failure: state.failure },
    aborting: state.aborting,
    nodes: Object.fromEntries(
      reached.map(({ id, path, status, startedAt, endedAt, failure, stopping, attempts }) => {
        const tries = attempts.map(({ exitCode, outputs, survivors }) => ({ exitCode, outputs, survivors }));
        const stops = attempts.at(-1)?.task === null ? null : stopping;
        return [id, { path, status, startedAt, endedAt, failure, stopping: stops, tries }];
      }),
    ),
  };
}

for (const file of files) {
  const { plan: stored, events, transitions } = JSON.parse(readFileSync(new URL(file, folder), "utf8")) as Recorded;
  const plan: Plan = upgradePlan(stored);

  test(`the engine goes the recorded way: ${file}`, () => {
    let execution: Execution = { state: engine.initialState(plan), nodes: new Map() };
    for (const [index, event] of events.entries()) compare(index, (execution = next(execution, event, index)));
  });

  test(`a run in flight can be taken over from its stored state at any event: ${file}`, () => {
    for (const from of transitions.keys()) {
      const recorded = transitions[from];
      assert.ok(recorded);
      let execution = executionOf(stored, recorded);
      for (let index = from + 1; index < events.length; index += 1)
        compare(index, (execution = next(execution, events[index] as Event, index)));
    }
  });

  const next = (execution: Execution, event: Event, index: number): Execution => {
    const { effects, state, nodes } = give(plan, execution, eventOf(event));
    assert.deepEqual(effects.map(effectOf), transitions[index]?.effects.map(effectOf), `effects of event ${index}`);
    return { state, nodes };
  };

  const compare = (index: number, execution: Execution): void => {
    const recorded = transitions[index];
    assert.ok(recorded);
    assert.deepEqual(shown(execution), shown(executionOf(stored, recorded)), `at event ${index}`);
  };
}
