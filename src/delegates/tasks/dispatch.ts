/**
 * Enqueue and dispatch. If a delegate that is connected here can take a task at once, the transaction that creates it
 * also leases it, and it is sent after the commit. A task that begins a run does not overtake pending tasks for that
 * slot. Any other task stays `ready` until a replica with a matching delegate pulls it, in the order of `leaseReady`.
 */
import { capabilityOf } from "../../../protocol/versions.ts";
import type { Clock } from "../../core/clock.ts";
import { toWire, type NewId, type Uuid } from "../../core/ids.ts";
import type { Db, Tx } from "../../platform/db/db.ts";
import { createNotificationBatcher } from "../../platform/db/notify/notification-batcher.ts";
import { recipientOf, type Deliver } from "./deliver.ts";
import { freeSlots, type Session, type Sessions } from "../session/sessions.ts";
import { leaseReady, releaseTask, type Lease, type LeasedWork } from "../store/leases.ts";
import type { Holder } from "../store/token-validity.ts";
import { insertTask } from "../store/tasks.ts";
import type { NewTask } from "../task.ts";

export const READY_CHANNEL = "railhead_tasks_ready";

export type DispatchDeps = {
  readonly db: Db;
  readonly sessions: Sessions;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly deliver: Deliver;
  /** A task of the run was taken by a delegate, or is ready again. */
  readonly onLeaseChanged: (runId: Uuid) => void;
  readonly onError: (error: unknown) => void;
};

/** Creates a task in the caller's transaction. It is sent or announced only after the commit. */
export type Enqueue = (tx: Tx, task: NewTask) => Promise<void>;

/** What this replica knows about pending tasks. */
type Pending = {
  /** Tells other replicas in which accounts tasks wait. */
  readonly otherReplicas: ReturnType<typeof createNotificationBatcher>;
  /** Sessions that may have pending tasks; without them, a finished task costs no statement. */
  readonly sessions: Set<Session>;
  /** Increases when work becomes available, so that an earlier pull does not clear the mark. */
  availabilityVersion: number;
};

type State = DispatchDeps & { readonly pending: Pending };

export function createDispatch(deps: DispatchDeps) {
  const otherReplicas = createNotificationBatcher({ db: deps.db, channel: READY_CHANNEL, onError: deps.onError });
  const pending: Pending = { otherReplicas, sessions: new Set(), availabilityVersion: 0 };
  const state: State = { ...deps, pending };
  const enqueue: Enqueue = (tx, task) => enqueueTask(state, tx, task);

  return {
    enqueue,
    /** Leases pending tasks for the free slots of this delegate. */
    pull: (session: Session): Promise<void> => pullTasks(state, session),
    /** Tasks of these runs are ready again, for any replica. */
    tasksReturned: (accountId: Uuid, runIds: readonly Uuid[]): void => {
      announceTask(state, accountId);
      for (const runId of runIds) deps.onLeaseChanged(runId);
    },
    /**
     * The selectors have changed, or the delegate is enabled now. A pull with the old selectors must not clear the
     * mark.
     */
    sessionChanged: (session: Session): void => {
      markWorkAvailable(state, (one) => one === session);
      pullInBackground(state, session);
    },
    /** A slot of this delegate is free again. */
    slotFreed: (session: Session): void => {
      if (pending.sessions.has(session)) pullInBackground(state, session);
    },
    /**
     * Another replica has enqueued tasks that it could not place, in the accounts of the payload; an empty payload
     * means any account.
     */
    readyNotified: (payload: string): void => {
      const accounts = payload === "" ? undefined : new Set(payload.split(" "));
      const isConcerned = (session: Session): boolean => accounts?.has(session.delegate.accountId) ?? true;
      markWorkAvailable(state, isConcerned);
      for (const session of deps.sessions.all()) if (isConcerned(session)) pullInBackground(state, session);
    },
    sessionClosed: (session: Session): void => void pending.sessions.delete(session),
    stop: (): void => otherReplicas.stop(),
  };
}

export type Dispatch = ReturnType<typeof createDispatch>;

async function enqueueTask(state: State, tx: Tx, task: NewTask): Promise<void> {
  const [id, at] = [state.newId(), state.clock.now()];
  const free = state.sessions.findFreeSession({ ...task, capability: capabilityOf(task.work) });
  // A new run does not overtake tasks that wait for this slot. If none is waiting, it is pulled after the commit.
  const isBehind = free !== undefined && task.queueId !== null && state.pending.sessions.has(free);
  const session = isBehind ? undefined : free;
  // The slot is reserved before the statement is sent, so that two transactions cannot both take the last one.
  session?.leasedTasks.set(id, { runId: task.runId, epoch: 1 });
  tx.afterRollback(() => session?.leasedTasks.delete(id));
  let isLeased = false;
  tx.afterCommit(() => {
    if (session && isLeased) sendTask(state, session, { id, epoch: 1, work: task.work, leasedAt: at });
    else announceTask(state, task.accountId);
    if (isBehind) pullInBackground(state, free);
  });
  isLeased = await insertTask(tx, { ...task, id, holder: session && holderOf(session), at });
  if (!isLeased) session?.leasedTasks.delete(id);
}

/** A task of the account is ready: sessions here pull it when they have a free slot, and other replicas are told. */
function announceTask(state: State, accountId: Uuid): void {
  markWorkAvailable(state, (session) => session.delegate.accountId === accountId);
  state.pending.otherReplicas.add(accountId);
}

function markWorkAvailable({ sessions, pending }: State, isConcerned: (session: Session) => boolean): void {
  pending.availabilityVersion += 1;
  for (const session of sessions.all()) if (isConcerned(session)) pending.sessions.add(session);
}

type TaskToSend = Pick<LeasedWork, "id" | "epoch" | "work"> & { readonly leasedAt: number };

/** If the delegate has disconnected, the task becomes ready for others. */
function sendTask(state: State, session: Session, { id, epoch, work, leasedAt }: TaskToSend): void {
  const { accountId } = session.delegate;
  state.deliver(recipientOf(session), { kind: "run", task: toWire(id), epoch, work }, () => {
    session.leasedTasks.delete(id);
    releaseLease(state, { accountId, id, epoch, leasedAt }).catch(state.onError);
  });
}

/** Does nothing if the delegate has reconnected and its hello has sent the task again. */
async function releaseLease(state: State, lease: Lease): Promise<void> {
  const runId = await releaseTask(state.db, lease);
  if (!runId) return;
  announceTask(state, lease.accountId);
  state.onLeaseChanged(runId);
}

const pullInBackground = (state: State, session: Session): void => void pullTasks(state, session).catch(state.onError);

/** Leases pending tasks for the free slots of this delegate. */
async function pullTasks(state: State, session: Session): Promise<void> {
  const { sessions, pending } = state;
  if (!sessions.isOpen(session) || !session.isEnabled) return;
  // Marked until a pull gets fewer tasks than it asks for: a new connection may find more tasks than it has slots.
  pending.sessions.add(session);
  const free = freeSlots(session);
  if (free === 0) return;
  const versionBefore = pending.availabilityVersion;
  session.slotsReservedForPull += free;
  const leasedAt = state.clock.now();
  let leased: readonly LeasedWork[];
  try {
    leased = await leaseTasks(state, session, { most: free, at: leasedAt });
    // Synchronous with the release of the reserved slots, so that no other task takes them in between.
    for (const { id, runId, epoch } of leased) session.leasedTasks.set(id, { runId, epoch });
  } finally {
    session.slotsReservedForPull -= free;
  }
  for (const { id, epoch, work } of leased) sendTask(state, session, { id, epoch, work, leasedAt });
  for (const { runId } of leased) state.onLeaseChanged(runId);
  if (leased.length === free) return;
  // Fewer tasks than requested: none is left for it, unless work became available during the pull.
  if (versionBefore === pending.availabilityVersion) pending.sessions.delete(session);
  else await pullTasks(state, session);
}

function leaseTasks(
  { db }: State,
  session: Session,
  { most, at }: { readonly most: number; readonly at: number },
): Promise<LeasedWork[]> {
  const { accountId, capabilities } = session.delegate;
  return leaseReady(db, { ...holderOf(session), accountId, selectors: [...session.selectors], capabilities, most, at });
}

const holderOf = ({ delegate, tokenId }: Session): Holder => ({ delegateId: delegate.id, tokenId });
