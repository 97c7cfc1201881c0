/** Reads executions as they are stored, in any format. */
import {
  FORMAT,
  formatOf,
  isStatus,
  upgrade,
  upgradePlan,
  type InstanceId,
  type NodeState,
  type Plan,
  type State,
  type Status,
} from "../engine/index.ts";
import { nodesOfRows, type NodeRow } from "./node-rows.ts";

/** The columns of an execution that say how far it has come, in whatever format they are. */
export type StoredExecution = {
  readonly format: number;
  readonly plan: unknown;
  /** Of format 1 the whole state. */
  readonly header: unknown;
  readonly nodes: readonly NodeRow[] | null;
  readonly status: Status;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
};

/** What can be read of an execution. */
export type Readable = {
  readonly plan: Plan | undefined;
  readonly state: State | undefined;
  readonly nodes: ReadonlyMap<InstanceId, NodeState>;
};

/** Undefined in place of what is damaged, or of a later format. */
export function readStored({ format, plan: storedPlan, header, nodes }: StoredExecution): Readable {
  if (format > FORMAT) return { plan: undefined, state: undefined, nodes: new Map() };
  const plan = orUndefined(() => upgradePlan(storedPlan));
  if (format === FORMAT) return { plan, state: isState(header) ? header : undefined, nodes: nodesOfRows(nodes ?? []) };
  const upgraded = orUndefined(() => upgrade({ plan: storedPlan, state: header }));
  return { plan, state: upgraded?.state, nodes: upgraded?.nodes ?? new Map() };
}

type StageNode = Pick<NodeState, "status" | "startedAt" | "endedAt" | "failure">;
type StageNodes = { readonly get: (id: InstanceId) => StageNode | undefined };

/** State and nodes as lists show them. They need no plan, in no format. */
export function readStageNodes({ format, header, nodes }: Omit<StoredExecution, "plan">): {
  readonly state: Pick<State, "status" | "failure" | "endedAt"> | undefined;
  readonly nodes: StageNodes;
} {
  if (format === FORMAT) return { state: isState(header) ? header : undefined, nodes: nodesOfRows(nodes ?? []) };
  if (format > FORMAT || !isStateOf1(header)) return { state: undefined, nodes: new Map() };
  return { state: header, nodes: new Map(Object.entries(header.nodes)) };
}

type StateOf1 = Pick<State, "status" | "failure" | "endedAt"> & { readonly nodes: Readonly<Record<string, StageNode>> };

const hasStatus = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "status" in value && isStatus(value.status);

/** Enough for lists; `upgrade` reads all of it. */
const isStateOf1 = (value: unknown): value is StateOf1 =>
  hasStatus(value) &&
  typeof (value as StateOf1).nodes === "object" &&
  (value as StateOf1).nodes !== null &&
  Object.values((value as StateOf1).nodes).every(hasStatus);

function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** True for a header of this format. */
export const isState = (value: unknown): value is State =>
  typeof value === "object" &&
  value !== null &&
  formatOf(value) === FORMAT &&
  "status" in value &&
  isStatus(value.status) &&
  ["latestAt", "nodes", "outputBytes"].every((name) => typeof (value as Record<string, unknown>)[name] === "number");
