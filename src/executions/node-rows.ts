/** Instances of nodes as rows of `execution_nodes`. */
import type {
  Attempt,
  InstanceId,
  Iteration,
  NodeState,
  Plan,
  PlanNode,
  Progress,
  Reason,
  Status,
} from "../engine/index.ts";

/** Nodes of one transition, with what each was before. */
export type NodeChange = {
  readonly node: NodeState;
  readonly before: NodeState | undefined;
  readonly kind: Kind;
};

type Kind = PlanNode["kind"] | "unknown";

/** Unknown for a node of a damaged plan. */
export const kindOf = (plan: Plan | undefined, { definition }: NodeState): Kind =>
  plan?.nodes[definition]?.kind ?? "unknown";

/** What no statement looks at. The last attempt is without its outputs, the progress without its iterations. */
type Rest = Omit<
  NodeState,
  "id" | "definition" | "parent" | "path" | "status" | "reason" | "startedAt" | "endedAt" | "progress"
> & { readonly progress: Omit<Progress, "iterations"> | null };

export type NodeRow = {
  readonly id: InstanceId;
  readonly definition: string;
  readonly parent: InstanceId | null;
  readonly path: string;
  readonly status: Status;
  readonly reason: Reason | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly outputs: Attempt["outputs"];
  readonly iterations: readonly Iteration[] | null;
  readonly rest: Rest;
};

export function nodeOfRow({ rest, outputs, iterations, ...row }: NodeRow): NodeState {
  const last = rest.attempts.at(-1);
  return {
    ...row,
    ...rest,
    attempts: last ? [...rest.attempts.slice(0, -1), { ...last, outputs }] : [],
    progress: rest.progress && iterations ? { ...rest.progress, iterations } : rest.progress,
  };
}

export const nodesOfRows = (rows: readonly NodeRow[]): Map<InstanceId, NodeState> =>
  new Map(rows.map((row) => [row.id, nodeOfRow(row)]));

/** The parameter of `UPSERT_NODES`. */
export const jsonOfNodes = (changes: readonly NodeChange[]): string => JSON.stringify(changes.map(recordOf));

function recordOf({ node, before, kind }: NodeChange) {
  const { id, definition, parent, path, status, reason, startedAt, endedAt, attempts, progress, ...others } = node;
  const last = attempts.at(-1);
  const { iterations, ...progressed } = progress ?? {};
  const rest = {
    ...others,
    attempts: last ? [...attempts.slice(0, -1), { ...last, outputs: [] }] : [],
    progress: progress && progressed,
  };
  return {
    ...{ id, definition_id: definition, parent_id: parent, path, kind, status },
    ...{ attempt: attempts.length, started_at: startedAt, ended_at: endedAt },
    // Values that may hold any character are JSON in a text: the statement would unescape them and refuse NUL.
    reason: reason && JSON.stringify(reason),
    outputs: JSON.stringify(last?.outputs ?? []),
    // Null keeps what is stored, and the text 'null' removes it.
    iterations: iterations === before?.progress?.iterations ? null : JSON.stringify(iterations ?? null),
    rest: JSON.stringify(rest),
  };
}
