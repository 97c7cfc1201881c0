/** Finds the log that a caller names: in which execution it is, and which tasks of the node wrote it. */
import { isFinal, type NodeState, type Origin } from "../../engine/index.ts";
import type { Actor } from "../../core/actor.ts";
import { fromWire, toWire, type Uuid } from "../../core/ids.ts";
import type { MaybeInProject } from "../../pipelines/index.ts";
import type { Db } from "../../platform/db/db.ts";
import type { ExecutionDetail } from "../execution.ts";
import type { GetExecution } from "../get.ts";
import { problem } from "../problems.ts";
import { shownNodes } from "../shown-nodes.ts";
import { readChunks, selectLastBelow, type NodeKey } from "../store/node-logs.ts";
import { countLineFeeds } from "./line-feeds.ts";
import { logDeletedAt } from "../store/retention.ts";

type Deps = { readonly db: Db; readonly get: GetExecution };

export type LogName = {
  readonly nodeExecutionId?: string | undefined;
  /** Of the node; all of them without it. */
  readonly attempt?: number | undefined;
};

/** A node and which of its tasks. An attempt has one or several in a row. */
export type NodeTasks = {
  readonly nodeId: Uuid;
  readonly identifier: string;
  readonly first: number;
  readonly last: number;
  /** Whether none of them writes any more. */
  readonly haveEnded: boolean;
};

/** `tasks` is undefined for the log of the whole execution. */
export type LocatedLog = { readonly execution: ExecutionDetail; readonly tasks: NodeTasks | undefined };

/** The number of a task that no node has. */
const LAST_TASK = 2_147_483_647;

/** Throws `execution.not_found`, `execution.node_not_found`, `execution.no_attempt`, `execution.log_deleted`. */
export async function locateLog(
  deps: Deps,
  actor: Actor,
  id: string,
  scope: MaybeInProject,
  name: LogName,
): Promise<LocatedLog> {
  const execution = await deps.get(actor, id, scope);
  const origin = originOf(execution, name);
  if (origin) {
    const { execution: earlier, node } = origin;
    return locateLog(deps, actor, toWire(earlier as Uuid), scope, { ...name, nodeExecutionId: toWire(node as Uuid) });
  }
  const { status } = execution;
  const deletedAt = isFinal(status) ? await logDeletedAt(deps.db, actor.accountId, execution.id) : undefined;
  if (deletedAt !== undefined) throw problem("execution.log_deleted", [id, new Date(deletedAt).toISOString()]);
  return { execution, tasks: tasksOf(execution, id, name) };
}

/** Where a node was run that a retry took over: its log is there. */
function originOf({ nodes }: ExecutionDetail, { nodeExecutionId }: LogName): Origin | undefined {
  const id = nodeExecutionId === undefined ? undefined : fromWire(nodeExecutionId);
  return id && nodes.get(id)?.origin;
}

function tasksOf(execution: ExecutionDetail, id: string, { nodeExecutionId: wire, attempt }: LogName) {
  if (wire === undefined) return undefined;
  const nodeId = fromWire(wire);
  const node = nodeId && shownNodes(execution).get(nodeId);
  if (!node) throw problem("execution.node_not_found", [id, wire]);
  const { state, definition } = node;
  const shared = { nodeId, identifier: definition.identifier };
  if (attempt === undefined) return { ...shared, first: 1, last: LAST_TASK, haveEnded: isFinal(state.status) };
  return { ...shared, ...tasksOfAttempt(state, wire, attempt) };
}

function tasksOfAttempt({ attempts, status }: NodeState, wire: string, attempt: number) {
  const asked = attempts[attempt - 1];
  if (!asked) throw problem("execution.no_attempt", [wire, String(attempt)]);
  const before = attempts.slice(0, attempt - 1).reduce((last, one) => Math.max(last, one.task ?? 0), 0);
  return { first: before + 1, last: asked.task ?? before, haveEnded: asked.endedAt !== null || isFinal(status) };
}

/** `lines`: line feeds before it in the log of the node; null if they were not counted. */
type Begin = { readonly position: number; readonly lines: number | null };

const START = { position: 0, lines: 0 } as const;

/** Where the output of a task begins in the log of the node, or would begin: tasks of a node come one after the other. */
export async function findBegin(db: Db, key: NodeKey, task: number): Promise<Begin> {
  const before = task === 1 ? undefined : await selectLastBelow(db, key, "task", task);
  if (!before) return START;
  let lines: number | null = null;
  const position = await readChunks(db, key, { from: before.position, to: before.position + 1 }, (chunk) => {
    if (chunk.lines !== null) lines = chunk.lines + countLineFeeds(chunk.data);
  });
  return position === undefined ? START : { position, lines };
}
