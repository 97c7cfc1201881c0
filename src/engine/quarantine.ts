import type { Failure, NodeState, State } from "./model.ts";
import { FORMAT } from "./model.ts";
import { isFinal } from "./status.ts";

/** What is left of an execution that `step` cannot take any further. */
export type Remains = {
  readonly startedAt: number | null;
  readonly aborting: boolean;
  /** The nodes that can be read. */
  readonly nodes: Iterable<NodeState>;
};

/**
 * The last state of an execution that `step` cannot take any further: errored, with the reason. Nodes that had not
 * ended are errored with it; the others stay.
 */
export function quarantined(
  { startedAt, aborting, nodes }: Remains,
  at: number,
  message: string,
): { readonly state: State; readonly changed: readonly NodeState[] } {
  const failure: Failure = { message, types: ["Unknown"] };
  const all = [...nodes];
  const changed = all
    .filter(({ status }) => !isFinal(status))
    .map((node): NodeState => ({
      ...node,
      ...{ status: "errored", endedAt: at, stopping: null, reason: null, failure },
      attempts: node.attempts.map((attempt) =>
        attempt.endedAt === null ? { ...attempt, status: "errored", endedAt: at, failure, waitsFor: [] } : attempt,
      ),
    }));
  const header = { format: FORMAT, status: "errored", startedAt, endedAt: at, failure } as const;
  const state = { ...header, aborting, paused: false, latestAt: at, nodes: all.length, outputBytes: 0, barriers: {} };
  return { state, changed };
}
