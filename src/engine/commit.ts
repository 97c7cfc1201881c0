import type { State, Transition } from "./model.ts";
import { findNode, type Run } from "./run.ts";
import { isFinal } from "./status.ts";
import { countWaits, openStatus } from "./waits.ts";

/** The new state and what must happen. The status of the execution is that of the root. */
export function commit(run: Run): Transition {
  const root = findNode(run, run.plan.root);
  const { state: before } = run.before;
  const own = root?.status ?? before.status;
  const waits = countWaits(run);
  const state: State = {
    ...before,
    status: isFinal(own) || !root ? own : openStatus(waits, run.paused),
    startedAt: root?.startedAt ?? before.startedAt,
    endedAt: isFinal(own) ? run.at : null,
    failure: root?.failure ?? before.failure,
    aborting: run.aborting,
    paused: run.paused,
    latestAt: run.at,
    nodes: run.nodes,
    outputBytes: run.outputBytes,
    barriers: run.barriers,
    waits,
  };
  return { state, changed: run.changed, effects: run.effects };
}
