/**
 * Enqueue and dispatch. A task that a delegate connected here can take at once
 * is leased in the transaction that makes it, and sent after the commit, unless
 * it begins a run and others may wait for that slot; any other waits as `ready`
 * until a replica that holds a matching delegate pulls it, in the order of
 * `leaseReady`.
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

export type Enqueue = (tx: Tx, task: NewTask) => Promise<void>;

export function createDispatch(deps: DispatchDeps) {
  const { db, sessions } = deps;
  const others = gatherNotify({ db, channel: READY_CHANNEL, onError: deps.onError });
  // Sessions for which something may be waiting: spares the idle case a statement per finished task.
  const sessionsWithPendingWork = new Set<Session>();
  // Counts what raises hope, so that a look that began before it does not end it.
  let news = 0;

  const enqueue: Enqueue = async (tx, task) => {
    const [id, at] = [deps.newId(), deps.clock.now()];
    const free = sessions.match(task.accountId, task.selectors, task.runId);
    // A run that begins does not overtake those that wait for this slot. It waits with them, for a moment if there are none.
    const isBehind = free !== undefined && task.queueId !== null && sessionsWithPendingWork.has(free);
    const session = isBehind ? undefined : free;
    // The slot is taken before the statement is sent, so that two transactions at once do not both take the last one.
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

  /** What did not go out, because the delegate has hung up meanwhile, is for others. */
  function sendTask(session: Session, { id, epoch, work }: Omit<LeasedWork, "runId">, leasedAt: number): void {
    const { accountId } = session.delegate;
    deps.deliver(toOf(session), { kind: "run", task: toWire(id), epoch, work }, () => {
      session.held.delete(id);
      release({ accountId, id, epoch, leasedAt }).catch(deps.onError);
    });
  }

  /** Unless the delegate is back and was sent it by its hello. */
  async function release(task: Lease): Promise<void> {
    if (await releaseTask(db, task)) waits(task.accountId);
  }

  /** Leases what waits for this delegate, as far as it has free slots. */
  async function pull(session: Session): Promise<void> {
    if (!sessions.isOpen(session) || !session.isEnabled) return;
    // Until it gets less than it asks for: a delegate that has just connected may find more waiting than it has slots.
    sessionsWithPendingWork.add(session);
    const free = freeSlots(session);
    if (free === 0) return;
    const seen = news;
    session.pulling += free;
    const at = deps.clock.now();
    let leased: readonly LeasedWork[];
    try {
      leased = await lease(session, free, at);
      // In one go with what follows: were the slots given back a moment earlier, somebody could take them again.
      for (const task of leased) session.held.set(task.id, task.runId);
    } finally {
      session.pulling -= free;
    }
    for (const task of leased) sendTask(session, task, at);
    if (leased.length === free) return;
    // Fewer than asked for: nothing is left that it could take, unless something came while its slots were set aside.
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
    /** The task is ready again: any replica may lease it. */
    taskReturned: waits,
    /** It matches other tasks than before, or is enabled now: a look that is under way with its old selectors must not have the last word. */
    retagged: (session: Session): void => {
      markWorkAvailable((one) => one === session);
      pull(session).catch(deps.onError);
    },
    /** A slot of this delegate is free again. */
    slotFreed: (session: Session): void => {
      if (sessionsWithPendingWork.has(session)) pull(session).catch(deps.onError);
    },
    /** Somebody enqueued what could not be placed, in the accounts that the payload names; none means any. */
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
