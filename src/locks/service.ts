/** What executions ask of locks, in the transaction that saves their state: nothing here waits for another execution. */
import type { Clock } from "../core/clock.ts";
import type { LockService } from "../executions/index.ts";
import type { Tx } from "../platform/db/db.ts";
import type { LockKey } from "./lock.ts";
import { deleteOfHolder, deleteUnanswered, insertGranted, insertRequest, tryLockKey } from "./store.ts";

export type LockServiceDeps = {
  readonly clock: Clock;
  /** Grants what may be granted of a key, soon. */
  readonly serveSoon: (key: LockKey) => void;
};

export function createLockService({ clock, serveSoon }: LockServiceDeps): LockService {
  const last = new WeakMap<Tx, Promise<unknown>>();
  /**
   * The effects of an event begin at the same time, and a request takes more than one statement: a withdrawal that
   * follows it must not overtake it.
   */
  function inOrder<T>(tx: Tx, work: () => Promise<T>): Promise<T> {
    const next = (last.get(tx) ?? Promise.resolve()).then(work);
    last.set(
      tx,
      next.catch(() => undefined),
    );
    return next;
  }
  const serveAfterCommit = (tx: Tx, keys: readonly LockKey[]): void => {
    for (const key of keys) tx.afterCommit(() => serveSoon(key));
  };
  const deleting = (tx: Tx, work: () => Promise<LockKey[]>): Promise<void> =>
    inOrder(tx, async () => serveAfterCommit(tx, await work()));
  return {
    send: (tx, { accountId, executionId, nodeId }, { key, holder, around }) =>
      inOrder(tx, async () => {
        // A stage holds what it asks for; a step asks for what is around it.
        const lock: LockKey = { accountId, kind: holder === nodeId ? "stage" : "step", key };
        const request = { executionId, nodeId, holderId: holder, around, at: clock.now() };
        if ((await tryLockKey(tx, lock)) && (await insertGranted(tx, lock, request))) return { answer: null };
        await insertRequest(tx, lock, request);
        serveAfterCommit(tx, [lock]);
        return undefined;
      }),
    withdraw: (tx, { accountId, executionId, nodeId }) =>
      deleting(tx, () => deleteUnanswered(tx, accountId, nodeId, executionId)),
    withdrawAll: (tx, { accountId, executionId }) =>
      deleting(tx, () => deleteOfHolder(tx, accountId, executionId, null)),
    release: (tx, { accountId, executionId, nodeId: holder }) =>
      deleting(tx, () => deleteOfHolder(tx, accountId, executionId, holder)),
  };
}
