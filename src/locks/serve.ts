/**
 * Grants locks and tells the executions. A grant is a transaction of its own that waits for no execution. The answer
 * locks its execution alone. A replica that dies between the two leaves the answer to the sweep.
 */
import type { Clock } from "../core/clock.ts";
import { Problem } from "../core/problem.ts";
import type { LockToAnswer } from "../executions/index.ts";
import type { Db, Tx } from "../platform/db/db.ts";
import { outsideShares } from "../platform/db/pool/budget.ts";
import { type LockKey, nextGrants } from "./lock.ts";
import {
  deleteUnanswered,
  findGranted,
  findRequests,
  findServableKeys,
  grantRequests,
  type Granted,
  isUnanswered,
  lockKey,
  markAnswered,
  tryLockKey,
} from "./store.ts";

/** Keys that this process serves at the same time: each takes one connection. */
const MAX_KEYS = 2;
/** Answers that a key is given before other keys have their turn. */
const MAX_ANSWERS = 50;

export type ServeDeps = {
  readonly db: Db;
  readonly clock: Clock;
  readonly lockToAnswer: LockToAnswer;
  readonly onError: (error: unknown) => void;
};

const nameOf = ({ accountId, kind, key }: LockKey): string => `${accountId} ${kind} ${key}`;

export function createServing(deps: ServeDeps) {
  const wanted = new Map<string, LockKey>();
  const running = new Map<string, Promise<void>>();
  let isStopped = false;

  const serve = async (key: LockKey, take: TakeKey = lockKey): Promise<void> => {
    await grantFree(deps, key, take);
    const all = await findGranted(deps.db, key, MAX_ANSWERS);
    for (const granted of all) await answer(granted);
    // Other keys come first.
    if (all.length === MAX_ANSWERS) serveSoon(key);
  };

  async function answer({ accountId, turn, executionId, nodeId }: Granted): Promise<void> {
    await deps.lockToAnswer({ accountId, id: executionId }, async (tx, execution) => {
      // Of two replicas, the second finds it answered.
      if (!execution || !(await isUnanswered(tx, accountId, turn))) return;
      const effect = await execution.answer(nodeId, null);
      if (effect === "taken") await markAnswered(tx, accountId, turn, deps.clock.now());
      if (effect !== "not waiting") return;
      for (const key of await deleteUnanswered(tx, accountId, nodeId, executionId))
        tx.afterCommit(() => serveSoon(key));
    });
  }

  function startNext(): void {
    for (const [name, key] of wanted) {
      if (running.size >= MAX_KEYS || isStopped) return;
      // One that is being served is served once more afterwards: it may have been read too early.
      if (running.has(name)) continue;
      wanted.delete(name);
      const work = serve(key)
        .catch(reportUnlessNewer(deps.onError))
        .finally(() => {
          running.delete(name);
          startNext();
        });
      running.set(name, work);
    }
  }

  /** Serves a key outside of the caller's transaction and share of the connections. */
  function serveSoon(key: LockKey): void {
    wanted.set(nameOf(key), key);
    outsideShares(startNext);
  }

  /**
   * Serves what a lost replica or a failed transaction has left. Run about once a second. It leaves out a key that another
   * transaction has locked, so that one slow transaction does not hold up the keys of all accounts.
   */
  async function sweep(): Promise<void> {
    for (const key of await findServableKeys(deps.db))
      await serve(key, tryLockKey).catch(reportUnlessNewer(deps.onError));
  }

  /** Resolves when no key is being served; for tests. */
  async function idle(): Promise<void> {
    while (running.size > 0) await Promise.all(running.values());
  }

  /** Leaves what is not served yet to other replicas. */
  async function stop(): Promise<void> {
    isStopped = true;
    await idle();
  }

  return { serveSoon, sweep, idle, stop };
}

/** Locks a key until the transaction ends; false if it does not wait and another transaction has locked it. */
type TakeKey = (tx: Tx, key: LockKey) => Promise<boolean | void>;

async function grantFree({ db, clock }: ServeDeps, key: LockKey, take: TakeKey): Promise<void> {
  await db.transaction(async (tx) => {
    if ((await take(tx, key)) === false) return;
    // One statement after the other: each sees what the last holder of the lock has committed.
    for (;;) {
      const requests = await findRequests(tx, key);
      const isFree = !requests.some(({ isGranted }) => isGranted);
      // Which others may follow the first one depends on it, and on requests of its execution that are read then.
      const turns = nextGrants(requests)
        .map(({ turn }) => turn)
        .slice(0, isFree ? 1 : undefined);
      if (turns.length === 0 || (await grantRequests(tx, key.accountId, turns, clock.now())) < turns.length) return;
    }
  });
}

/** A replica of a later version serves the executions of its own format. */
const reportUnlessNewer =
  (onError: (error: unknown) => void) =>
  (error: unknown): void => {
    if (!(error instanceof Problem && error.code === "execution.newer_format")) onError(error);
  };
