/**
 * Enqueue and dispatch. If a delegate that is connected here can take a task at once, the transaction that creates it
 * also leases it, and it is sent after the commit. A task that begins a run does not overtake pending tasks for that
 * slot. Any other task stays `ready` until a replica with a matching delegate pulls it, in the order of `leaseReady`.
 */
import type { Clock } from "../../core/clock.ts";
import { toWire, type NewId, type Uuid } from "../../core/ids.ts";
import type { Db, Tx } from "../../platform/db/db.ts";
import { gatherNotify } from "../../platform/db/notify/gather-notify.ts";
import { toOf, type Deliver } from "./deliver.ts";
import { freeSlots, type Session, type Sessions } from "../session/sessions.ts";
import type { Holder } from "../store/standing.ts";
import { insertTask, leaseReady, releaseTask, type Lease, type LeasedWork } from "../store/tasks.ts";
import type { NewTask } from "../task.ts";

export const READY_CHANNEL = "railhead_tasks_ready";

export type DispatchDeps = {
  readonly db: Db;
  readonly sessions: Sessions;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly deliver: Deliver;
  readonly onError: (error: unknown) => void;
};

/** Creates a task in the caller's transaction. It is sent or announced only after the commit. */
export type Enqueue = (tx: Tx, task: NewTask) => Promise<void>;

export function createDispatch(deps: DispatchDeps) {
  const { db, sessions } = deps;
  const others = gatherNotify({ db, channel: READY_CHANNEL, onError: deps.onError });
  // Sessions that may have pending tasks; without them, a finished task costs no statement.
  const sessionsWithPendingWork = new Set<Session>();
  // Increases when work becomes available, so that an earlier pull does not clear the mark.
  let news = 0;

  const enqueue: Enqueue = async (tx, task) => {
    const [id, at] = [deps.newId(), deps.clock.now()];
    const free = sessions.match(task.accountId, task.selectors, task.runId);
    // A new run does not overtake tasks that wait for this slot. If none is waiting, it is pulled after the commit.
    const isBehind = free !== undefined && task.queueId !== null && sessionsWithPendingWork.has(free);
    const session = isBehind ? undefined : free;
    // The slot is reserved before the statement is sent, so that two transactions cannot both take the last one.
    session?.held.set(id, task.runId);
    tx.afterRollback(() => session?.held.delete(id));
    let isLeased = false;
    tx.afterCommit(() => {
      if (session && isLeased) sendTask(session, { id, epoch: 1, work: task.work }, at);
      else waits(task.accountId);
      if (isBehind) pull(free).catch(deps.onError);
    });
    isLeased = await insertTask(tx, { ...task, id, holder: session && holderOf(session), at });
    if (!isLeased) session?.held.delete(id);
  };

  function waits(accountId: Uuid): void {
    markWorkAvailable((session) => session.delegate.accountId === accountId);
    others.add(accountId);
  }

  function markWorkAvailable(of: (session: Session) => boolean): void {
    news += 1;
    for (const session of sessions.all()) if (of(session)) sessionsWithPendingWork.add(session);
  }

  /** If the delegate has disconnected, the task becomes ready for others. */
  function sendTask(session: Session, { id, epoch, work }: Omit<LeasedWork, "runId">, leasedAt: number): void {
    const { accountId } = session.delegate;
    deps.deliver(toOf(session), { kind: "run", task: toWire(id), epoch, work }, () => {
      session.held.delete(id);
      release({ accountId, id, epoch, leasedAt }).catch(deps.onError);
    });
  }

  /** Does nothing if the delegate has reconnected and its hello has sent the task again. */
  async function release(task: Lease): Promise<void> {
    if (await releaseTask(db, task)) waits(task.accountId);
  }

  /** Leases pending tasks for the free slots of this delegate. */
  async function pull(session: Session): Promise<void> {
    if (!sessions.isOpen(session) || !session.isEnabled) return;
    // Marked until a pull gets fewer tasks than it asks for: a new connection may find more tasks than it has slots.
    sessionsWithPendingWork.add(session);
    const free = freeSlots(session);
    if (free === 0) return;
    const seen = news;
    session.pulling += free;
    const at = deps.clock.now();
    let leased: readonly LeasedWork[];
    try {
      leased = await lease(session, free, at);
      // Synchronous with the release of the reserved slots, so that no other task takes them in between.
      for (const task of leased) session.held.set(task.id, task.runId);
    } finally {
      session.pulling -= free;
    }
    for (const task of leased) sendTask(session, task, at);
    if (leased.length === free) return;
    // Fewer tasks than requested: none is left for it, unless work became available during the pull.
    if (seen === news) sessionsWithPendingWork.delete(session);
    else await pull(session);
  }

  function lease(session: Session, most: number, at: number): Promise<LeasedWork[]> {
    const { accountId } = session.delegate;
    return leaseReady(db, { ...holderOf(session), accountId, selectors: [...session.selectors], most, at });
  }

  return {
    enqueue,
    pull,
    /** The task is ready again, for any replica. */
    taskReturned: waits,
    /**
     * The selectors have changed, or the delegate is enabled now. A pull with the old selectors must not clear the
     * mark.
     */
    retagged: (session: Session): void => {
      markWorkAvailable((one) => one === session);
      pull(session).catch(deps.onError);
    },
    /** A slot of this delegate is free again. */
    slotFreed: (session: Session): void => {
      if (sessionsWithPendingWork.has(session)) pull(session).catch(deps.onError);
    },
    /**
     * Another replica has enqueued tasks that it could not place, in the accounts of the payload; an empty payload
     * means any account.
     */
    readyNotified: (payload: string): void => {
      const accounts = payload === "" ? undefined : new Set(payload.split(" "));
      const concerned = (session: Session): boolean => accounts?.has(session.delegate.accountId) ?? true;
      markWorkAvailable(concerned);
      for (const session of sessions.all()) if (concerned(session)) pull(session).catch(deps.onError);
    },
    sessionClosed: (session: Session): void => void sessionsWithPendingWork.delete(session),
    stop: (): void => others.stop(),
  };
}

const holderOf = ({ delegate, tokenId }: Session): Holder => ({ delegateId: delegate.id, tokenId });

export type Dispatch = ReturnType<typeof createDispatch>;
