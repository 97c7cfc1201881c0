/**
 * Processes the messages `log` and `finished` of a delegate, and ends the tasks of lost delegates. Each message is
 * checked for owner, lease and legality before any write (invariant 4): the task is leased to this delegate with this
 * epoch. A message that fails the check changes nothing.
 */
import { MAX_CHUNK, MAX_OUTPUTS, type ToDelegate, type ToServer } from "../../../protocol/messages.ts";
import { parseCapability, type Capability } from "../../../protocol/versions.ts";
import type { Clock } from "../../core/clock.ts";
import { fromWire, type Uuid } from "../../core/ids.ts";
import type { Db, Tx } from "../../platform/db/db.ts";
import { sendTogether } from "../../platform/db/send-together.ts";
import { kindOf } from "../kinds/table.ts";
import { problem } from "../problems.ts";
import { reserveSlotForRun, type Session } from "./sessions.ts";
import { findSeenAt } from "../store/delegates.ts";
import { hasDelegate, type LeaseKey } from "../store/leases.ts";
import { advanceLog, closeTask, findRunOf, lockTask, lockTaskFor, type TaskRow } from "../store/tasks.ts";
import type { Advancing, OnTaskOutput, TaskEnd } from "../task.ts";

export type ProcessDeps = {
  readonly db: Db;
  readonly clock: Clock;
  readonly onOutput: OnTaskOutput;
  readonly advancing: Advancing;
};

/** The response to a message about a task: stored up to an offset, finished, or no longer leased to the delegate. */
export type TaskResponse = Extract<ToDelegate, { kind: "logAck" | "finishedAck" | "drop" }>;
type Lease = { readonly task: string; readonly epoch: number };
type Log = Extract<ToServer, { kind: "log" }>;
type Finished = Extract<ToServer, { kind: "finished" }>;

/**
 * Whether the task is or was leased to this delegate. For others it takes one read, which shares its connection with
 * others, instead of a transaction. A task is sent after the commit of its lease, so the read finds it.
 */
export async function isOrWasLeasedTo(
  { db }: Pick<ProcessDeps, "db">,
  { delegate, leasedTasks }: Session,
  message: Pick<Lease, "task">,
): Promise<boolean> {
  const id = fromWire(message.task);
  return id !== undefined && (leasedTasks.has(id) || hasDelegate(db, delegate, id));
}

/** Answers after the commit: an acknowledged byte is durable (invariant 1). */
export async function processLog(deps: ProcessDeps, session: Session, message: Log): Promise<TaskResponse> {
  return deps.db.transaction(async (tx) => {
    const row = await lockLeasedTask(deps, tx, session, message);
    if (!row || row.status !== "leased") return dropOf(message);
    const offset = await storeOutput(deps, tx, row, message);
    await advanceLog(tx, row, offset);
    return { kind: "logAck", task: message.task, epoch: message.epoch, offset };
  });
}

export async function processFinished(deps: ProcessDeps, session: Session, message: Finished): Promise<TaskResponse> {
  return deps.advancing(async (tx, lockRun) => {
    const runId = await findRunId(tx, session, message);
    const [endTask, row] = await lockRunAndTask(
      message,
      async () => runId && lockRun(session.delegate.accountId, runId),
      () => lockLeasedTask(deps, tx, session, message),
    );
    if (!row || !endTask) return dropOf(message);
    const ack: TaskResponse = { kind: "finishedAck", task: message.task, epoch: message.epoch };
    // The message was processed before, and only its answer was lost.
    if (row.status === "finished") return ack;
    const logOffset = await storeOutput(deps, tx, row, message);
    if (session.leasedTasks.has(row.id)) {
      // In this transaction, the slot is free for the run's next task only; for others after the commit.
      const end = reserveSlotForRun(session, row.runId);
      tx.afterCommit(end);
      tx.afterRollback(end);
    }
    await sendTogether(
      () => closeTask(tx, { ...row, logOffset, at: deps.clock.now() }),
      () => endTask({ ...row, delegateName: session.delegate.name }, taskEndOf(row, message)),
    );
    return ack;
  });
}

/**
 * Locks the run before its task. An execution is locked by one statement, so that both travel together. A connection
 * test takes a second one, which must not come after the lock of the task: `expireTest` locks in this order, too.
 */
async function lockRunAndTask<Run, Row>(
  { outcome }: Finished,
  lockRun: () => Promise<Run>,
  lockRow: () => Promise<Row>,
): Promise<readonly [Run, Row]> {
  if (outcome.kind === "exited" || outcome.kind === "completed") return sendTogether(lockRun, lockRow);
  const run = await lockRun();
  return [run, await lockRow()];
}

export const dropOf = (message: Lease): TaskResponse => ({ kind: "drop", task: message.task, epoch: message.epoch });

export async function findRunId(
  tx: Tx,
  session: Session,
  message: { readonly task: string },
): Promise<Uuid | undefined> {
  const id = fromWire(message.task);
  return id && (session.leasedTasks.get(id)?.runId ?? findRunOf(tx, session.delegate.accountId, id));
}

/**
 * Locks a task that the session's delegate leases under this epoch, or leased last. Throws `delegate.token_ended` if
 * the delegate's token has been revoked or has expired, or if the delegate was deleted: its connection may not have
 * been ended yet.
 */
export async function lockLeasedTask(
  { clock }: Pick<ProcessDeps, "clock">,
  tx: Tx,
  { delegate, tokenId }: Session,
  message: Lease,
): Promise<TaskRow | undefined> {
  const id = fromWire(message.task);
  const { accountId, id: delegateId } = delegate;
  const row = id && (await lockTaskFor(tx, { accountId, id, delegateId, tokenId, at: clock.now() }));
  if (!row || row.delegateId !== delegateId || row.epoch !== message.epoch) return undefined;
  if (!row.isEntitled) throw problem("delegate.token_ended");
  return row;
}

/** Stores each byte once, in order: skips committed bytes and rejects a gap. Returns the new offset. */
async function storeOutput(deps: ProcessDeps, tx: Tx, row: TaskRow, message: Log | Finished): Promise<number> {
  const bytes = Buffer.from(message.data, "base64");
  // Base64 lets a message exceed the protocol's limit by a few bytes; readers of the log rely on the limit.
  if (bytes.length > MAX_CHUNK) throw problem("delegate.illegal_message", [`${bytes.length} bytes of output at once`]);
  if (message.offset > row.logOffset)
    throw problem("delegate.illegal_message", [
      `output from ${message.offset} on, but only ${row.logOffset} bytes are here`,
    ]);
  const fresh = bytes.subarray(row.logOffset - message.offset);
  if (fresh.length > 0) await deps.onOutput(tx, row, fresh);
  return row.logOffset + fresh.length;
}

function taskEndOf({ capability }: Pick<TaskRow, "capability">, { outcome }: Finished): TaskEnd {
  switch (outcome.kind) {
    case "completed":
    case "tested":
    case "exited":
      return isResultOf(capability, outcome) ? resultOf(outcome) : { kind: "refused", message: WRONG_RESULT };
    case "cancelled":
    case "refused":
      return outcome;
    case "lost":
      return { ...outcome, type: "DelegateRestart" };
  }
}

const WRONG_RESULT = "the delegate reported a result that does not belong to this kind of work";

type Result = Extract<Finished["outcome"], { kind: "completed" | "tested" | "exited" }>;

/** Whether a result of this form answers the work. Delegates are untrusted (invariant 4). */
function isResultOf(capability: Capability, outcome: Result): boolean {
  const { kind, version } = parseCapability(capability);
  return kindOf(kind).outcome === outcome.kind && (outcome.kind !== "completed" || outcome.version === version);
}

function resultOf(outcome: Result): TaskEnd {
  switch (outcome.kind) {
    case "exited": {
      // Railhead's delegate keeps to the limit. Delegates are untrusted (invariant 4), and states are stored whole.
      const bytes = outcome.outputs.reduce((sum, { value }) => sum + Buffer.byteLength(value), 0);
      return bytes > MAX_OUTPUTS ? { kind: "refused", message: tooLarge(bytes) } : outcome;
    }
    case "completed":
    case "tested":
      return outcome;
  }
}

const tooLarge = (bytes: number): string =>
  `its output variables have ${bytes} bytes, the limit is ${MAX_OUTPUTS}; none was taken`;

export type LostTask = LeaseKey & {
  readonly runId: Uuid;
  /** Set when silence is the reason: the delegate's `seen_at` that the caller has read. */
  readonly delegateId?: Uuid;
  readonly seenAt?: number;
  /** The name of the delegate. */
  readonly delegate?: string;
};

/**
 * Ends an attempt of a lost delegate; the delegate is told to drop it when it returns. A delegate that was heard from
 * since keeps its task: another server may be processing its hello, which locks its tasks.
 */
export async function endLostTask(deps: ProcessDeps, lost: LostTask, end: TaskEnd): Promise<void> {
  await deps.advancing(async (tx, lockRun) => {
    const endTask = await lockRun(lost.accountId, lost.runId);
    const row = await lockTask(tx, lost.accountId, lost.id);
    if (row?.status !== "leased" || row.epoch !== lost.epoch) return;
    if (lost.delegateId && (await findSeenAt(tx, lost.accountId, lost.delegateId)) !== lost.seenAt) return;
    await closeTask(tx, { ...row, at: deps.clock.now() });
    await endTask?.({ ...row, ...(lost.delegate !== undefined && { delegateName: lost.delegate }) }, end);
  });
}
