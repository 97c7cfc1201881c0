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
  const serveAfterCommit = (tx: Tx, keys: readonly LockKey[]): void => {
    for (const key of keys) tx.afterCommit(() => serveSoon(key));
  };
  return {
    async send(tx, { accountId, executionId, nodeId }, { key, holder, around }) {
      // A stage holds what it asks for; a step asks for what is around it.
      const lock: LockKey = { accountId, kind: holder === nodeId ? "stage" : "step", key };
      const request = { executionId, nodeId, holderId: holder, around, at: clock.now() };
      if ((await tryLockKey(tx, lock)) && (await insertGranted(tx, lock, request))) return { answer: null };
      await insertRequest(tx, lock, request);
      serveAfterCommit(tx, [lock]);
      return undefined;
    },
    withdraw: async (tx, { accountId, executionId, nodeId }) =>
      serveAfterCommit(tx, await deleteUnanswered(tx, accountId, nodeId, executionId)),
    withdrawAll: async (tx, { accountId, executionId }) =>
      serveAfterCommit(tx, await deleteOfHolder(tx, accountId, executionId, null)),
    release: async (tx, { accountId, executionId, nodeId: holder }) =>
      serveAfterCommit(tx, await deleteOfHolder(tx, accountId, executionId, holder)),
  };
}
