import type { Failure, NodeState, Plan, State, Status } from "./model.ts";
import { indexOf } from "./plan-index.ts";
import { UNTOUCHED } from "./run.ts";
import { isFinal } from "./status.ts";

const STATUSES: Readonly<Record<Status, true>> = {
  queued: true,
  running: true,
  waiting: true,
  paused: true,
  succeeded: true,
  ignored: true,
  failed: true,
  errored: true,
  aborted: true,
  expired: true,
  rejected: true,
  skipped: true,
};

/** True for what `step` and readers can work with. Fields that later versions added are not asked for. */
export const isState = (value: unknown): value is State =>
  isRecord(value) && isStatus(value["status"]) && isRecord(value["nodes"]) && hasNodes(value["nodes"]);

/** True for a tree of nodes that this version knows. */
export function isPlan(value: unknown): value is Plan {
  try {
    if (!isRecord(value) || typeof value["root"] !== "string") return false;
    indexOf(value as Plan);
    return true;
  } catch {
    return false;
  }
}

const hasNodes = (nodes: Readonly<Record<string, unknown>>): boolean => Object.values(nodes).every(isNodeState);

const isNodeState = (value: unknown): value is NodeState =>
  isRecord(value) && isStatus(value["status"]) && Number.isInteger(value["attempt"]) && Array.isArray(value["outputs"]);

const isStatus = (value: unknown): value is Status => typeof value === "string" && Object.hasOwn(STATUSES, value);

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * The last state of an execution that `step` cannot take any further: errored,
 * with the reason. Plan and state are as they are stored and may be damaged;
 * what can be read of the state stays, nodes that had not ended are errored with
 * it, those that were never reached are skipped.
 */
export function quarantined(plan: unknown, stored: unknown, at: number, message: string): State {
  const failure: Failure = { message, types: ["Unknown"] };
  const errored = { status: "errored", endedAt: at, stopping: null, failure } as const;
  const state = isRecord(stored) ? stored : {};
  const nodes = new Map<string, NodeState>();
  for (const [id, node] of Object.entries(isRecord(state["nodes"]) ? state["nodes"] : {}))
    if (isNodeState(node)) nodes.set(id, isFinal(node.status) ? node : { ...node, ...errored });
  if (isPlan(plan)) {
    if (!nodes.has(plan.root)) nodes.set(plan.root, { ...UNTOUCHED, ...errored });
    for (const id of Object.keys(plan.nodes))
      if (!nodes.has(id)) nodes.set(id, { ...UNTOUCHED, status: "skipped", endedAt: at });
  }
  return {
    status: "errored",
    startedAt: typeof state["startedAt"] === "number" ? state["startedAt"] : null,
    endedAt: at,
    failure,
    aborting: state["aborting"] === true,
    nodes: Object.fromEntries(nodes),
  };
}
