/**
 * Enqueue and dispatch. A task that a delegate connected here can take at once
 * is leased in the transaction that makes it, and sent after the commit; any
 * other waits as `ready` until a replica that holds a matching delegate pulls it.
 */
import type { Clock } from "../core/clock.ts";
import { toWire, type NewId, type Uuid } from "../core/ids.ts";
import type { Db, Tx } from "../platform/db/db.ts";
import { freeSlots, type Session, type Sessions } from "./sessions.ts";
import { insertTask, leaseReady } from "./store/tasks.ts";
import type { NewTask } from "./task.ts";

export const READY_CHANNEL = "railhead_tasks_ready";

export type DispatchDeps = {
  readonly db: Db;
  readonly sessions: Sessions;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly onError: (error: unknown) => void;
};

export type Enqueue = (tx: Tx, task: NewTask) => Promise<void>;

export function makeDispatch(deps: DispatchDeps) {
  const { db, sessions } = deps;
  // Accounts that may have ready tasks: spares the idle case a statement per finished task.
  const backlog = new Set<Uuid>();

  const enqueue: Enqueue = async (tx, task) => {
    const id = deps.newId();
    const session = sessions.match(task.accountId, task.selectors);
    // The slot is taken before the statement is sent, so that two transactions at once do not both take the last one.
    session?.held.set(id, task.runId);
    tx.afterRollback(() => session?.held.delete(id));
    tx.afterCommit(() => {
      if (session) session.send({ kind: "run", task: toWire(id), epoch: 1, work: task.work });
      else wakeReplicas(task.accountId);
    });
    await insertTask(tx, { ...task, id, delegateId: session?.delegate.id ?? null, at: deps.clock.now() });
  };

  function wakeReplicas(accountId: Uuid): void {
    backlog.add(accountId);
    db.notify(READY_CHANNEL, accountId).catch(deps.onError);
  }

  /** Leases what waits for this delegate, as far as it has free slots. */
  async function pull(session: Session): Promise<void> {
    const { accountId, id: delegateId } = session.delegate;
    const free = freeSlots(session);
    if (free === 0) return;
    const leased = await leaseReady(db, {
      accountId,
      delegateId,
      selectors: [...session.selectors],
      most: free,
      at: deps.clock.now(),
    });
    for (const task of leased) {
      session.held.set(task.id, task.runId);
      session.send({ kind: "run", task: toWire(task.id), epoch: task.epoch, work: task.work });
    }
    // Fewer than asked for: nothing is left that this delegate could take.
    if (leased.length < free && sessions.all().filter((one) => one.delegate.accountId === accountId).length === 1)
      backlog.delete(accountId);
  }

  const pullFor = (accountId: Uuid | undefined): void => {
    for (const session of sessions.all()) {
      if (accountId === undefined || session.delegate.accountId === accountId) pull(session).catch(deps.onError);
    }
  };

  return {
    enqueue,
    pull,
    /** A slot of this delegate is free again. */
    slotFreed: (session: Session): void => {
      if (backlog.has(session.delegate.accountId)) pull(session).catch(deps.onError);
    },
    /** Somebody enqueued what could not be placed; an empty payload means any account. */
    readyNotified: (payload: string): void => {
      if (payload !== "") backlog.add(payload as Uuid);
      pullFor(payload === "" ? undefined : (payload as Uuid));
    },
  };
}

export type Dispatch = ReturnType<typeof makeDispatch>;
