/** Reads an execution for its followers: all of it, and what has changed since a reading. */
import { FORMAT, isFinal, type InstanceId, type NodeState } from "../../engine/index.ts";
import type { Clock } from "../../core/clock.ts";
import type { Delegates } from "../../delegates/index.ts";
import type { Db } from "../../platform/db/db.ts";
import { findChangedNodes } from "../changed-nodes.ts";
import { taskExtrasOf, type FindQueueReason } from "../detail.ts";
import { detailOf, NO_PLAN, type ExecutionDetail } from "../execution.ts";
import { whyNoRetry } from "../retry/can-retry.ts";
import { isState } from "../stored.ts";
import type { RunKey } from "../store/advance.ts";
import { findHead, findLogLengths, findWhole, type FollowedHead, type LogLength } from "../store/following.ts";
import type { Reading, TaskExtras } from "./reading.ts";

export type ReadDeps = {
  readonly db: Db;
  readonly findQueueReason: FindQueueReason;
  readonly clock: Clock;
  readonly delegates: Pick<Delegates, "waitingTasks" | "delegatesOf">;
};

const NONE: ReadonlySet<InstanceId> = new Set();

/** Undefined for an execution that does not exist. */
export async function readWhole(deps: ReadDeps, run: RunKey): Promise<Reading | undefined> {
  const { db, delegates, clock } = deps;
  const whole = await findWhole(db, run);
  if (!whole) return undefined;
  const { revision, recent: _recent, logBytes: _logBytes, ...row } = whole;
  const execution = detailOf(row);
  const [waiting, taken, logs, queued] = await Promise.all([
    delegates.waitingTasks(run.accountId, run.id),
    delegates.delegatesOf(run.accountId, run.id),
    findLogLengths(db, run),
    queueReasonOf(deps, run, execution),
  ]);
  return {
    ...{ execution, revision, format: whole.format, touched: NONE, changed: new Set(execution.nodes.keys()) },
    canRetry: whyNoRetry(execution, clock.now()) === undefined,
    extras: { ...taskExtrasOf(execution.nodes, waiting, taken), ...queued },
    logs: logsOf(logs),
  };
}

/** `logSum`: bytes of the logs of nodes that are known. Undefined for an execution that does not exist any more. */
export async function readChanges(
  deps: ReadDeps,
  run: RunKey,
  { known, logSum }: { readonly known: Reading; readonly logSum: number },
): Promise<Reading | undefined> {
  const head = await findHead(deps.db, run);
  if (!head) return undefined;
  if (!isIncremental(head, known)) return readWhole(deps, run);
  const changes = await findChangedNodes(deps.db, run, head, known.revision);
  const execution = head.revision === known.revision ? known.execution : withChanges(known.execution, head, changes);
  const asked = [...new Set([...changes.keys(), ...openTasksOf(execution)])];
  const [waiting, taken, logs, queued] = await Promise.all([
    deps.delegates.waitingTasks(run.accountId, run.id, asked),
    deps.delegates.delegatesOf(run.accountId, run.id, asked),
    findLogLengths(deps.db, run, asked),
    queueReasonOf(deps, run, execution),
  ]);
  const extras = { ...taskExtrasOf(execution.nodes, waiting, taken), ...queued };
  const grown = logsOf(logs);
  const rest = head.logBytes > logSum ? logsOf(await findLogLengths(deps.db, run)) : grown;
  return {
    ...{ execution, revision: head.revision, format: head.format, changed: new Set(changes.keys()), logs: rest },
    canRetry: whyNoRetry(execution, deps.clock.now()) === undefined,
    ...merged(known, extras, asked),
  };
}

const isIncremental = ({ format, header, revision }: FollowedHead, known: Reading): boolean =>
  format === FORMAT && isState(header) && known.execution.plan !== NO_PLAN && revision >= known.revision;

function withChanges(
  before: ExecutionDetail,
  { header, format: _format, recent: _recent, revision: _revision, logBytes: _bytes, ...listed }: FollowedHead,
  changes: ReadonlyMap<InstanceId, NodeState>,
): ExecutionDetail {
  const nodes = changes.size === 0 ? before.nodes : new Map([...before.nodes, ...changes]);
  return { ...before, ...listed, state: isState(header) ? header : before.state, nodes };
}

const openTasksOf = ({ nodes }: ExecutionDetail): InstanceId[] =>
  nodes
    .values()
    .filter(({ tasks, status }) => tasks > 0 && !isFinal(status))
    .map(({ id }) => id)
    .toArray();

const logsOf = (rows: Awaited<ReturnType<typeof findLogLengths>>): ReadonlyMap<InstanceId, LogLength> =>
  new Map(rows.map(({ node, bytes, lines }) => [node, { bytes, lines }]));

/** Why an execution has not begun changes with others, not by its events. */
async function queueReasonOf(
  { findQueueReason }: ReadDeps,
  { accountId }: RunKey,
  execution: ExecutionDetail,
): Promise<Pick<TaskExtras, "queueReason">> {
  return execution.state.status === "queued" ? { queueReason: await findQueueReason(accountId, execution) } : {};
}

const nodeOfTask = (key: string): InstanceId => key.slice(0, key.indexOf(" "));

/** Lays the extras of some nodes over what is known. */
function merged(
  { extras: known, execution }: Reading,
  found: TaskExtras,
  asked: readonly InstanceId[],
): { readonly extras: TaskExtras; readonly touched: ReadonlySet<InstanceId> } {
  const isAsked = new Set(asked);
  const touched = new Set(asked.filter((node) => known.waitingFor.get(node) !== found.waitingFor.get(node)));
  const keysOfAsked = [...known.delegates.keys()].filter((key) => isAsked.has(nodeOfTask(key)));
  for (const key of new Set([...keysOfAsked, ...found.delegates.keys()]))
    if (known.delegates.get(key)?.id !== found.delegates.get(key)?.id) touched.add(nodeOfTask(key));
  if (known.queueReason !== found.queueReason) touched.add(execution.plan.root);
  if (touched.size === 0) return { extras: known, touched };
  const [waitingFor, delegates] = [new Map(known.waitingFor), new Map(known.delegates)];
  for (const node of asked) waitingFor.delete(node);
  for (const [node, reason] of found.waitingFor) waitingFor.set(node, reason);
  // A task that was given back has no delegate.
  for (const key of keysOfAsked) delegates.delete(key);
  for (const [key, delegate] of found.delegates) delegates.set(key, delegate);
  const { queueReason } = found;
  return { extras: { waitingFor, delegates, ...(queueReason !== undefined && { queueReason }) }, touched };
}
