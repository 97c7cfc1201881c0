/**
 * Removes what steps leave outside of their folders: files in folders that every user can write to, message queues,
 * System V memory and semaphores, keys. They are removed before their user is allocated to another task.
 * One sweep serves many ended tasks, and a folder that has not changed is not read again.
 *
 * An object that cannot be removed keeps its own user reserved, and no other. A sweep first finds the users with
 * leftovers and releases the others; then it removes folders and keys, a bounded number for each user and in total.
 */
import { textOf } from "../fault.ts";
import { type Keyrings, createKeyrings } from "./keyrings.ts";
import type { Log } from "../log.ts";
import { type Findings, createPublicSearch } from "./public-search.ts";
import { type Budget, removeTree } from "../work-folder/remove-tree.ts";
import { createRetries, type Retries } from "./retries.ts";
import type { StepOwner, StepUser } from "../isolation/step-user.ts";
import { removeSystemV } from "./system-v.ts";
import type { Timers } from "../timers.ts";

/** Releases the users of ended tasks. Failed removals are repeated until they succeed. */
export type Leftovers = {
  /** Releases the user of a task without processes, after its leftovers are removed. */
  readonly releaseUser: (owner: StepOwner) => void;
  /** Retries failed work, with growing pauses, until it succeeds. */
  readonly retry: (work: () => Promise<void>) => void;
  readonly stop: () => void;
};

/** Maximum of logged paths: a step can leave more. */
const MAX_REPORTED = 1_000;
/** Entries that one sweep removes, for each user and in total. */
const MAX_PER_USER = 10_000;
const MAX_PER_SWEEP = 40_000;

export type LeftoversDeps = {
  readonly log: Pick<Log, "warn">;
  readonly timers: Timers;
  readonly everyMs: number;
  readonly user: Pick<StepUser, "release" | "isUnused" | "isOurs" | "reserve">;
  /** Folders that every user can write to; read at each sweep. */
  readonly folders: () => readonly string[];
  readonly keyrings?: Keyrings;
};

/** Users of ended tasks that may have leftovers. */
type Ended = Map<number, StepOwner>;
type Pauses = Retries<number | (() => Promise<void>)>;
type Report = (what: string, error: unknown) => void;

/** Sweeps once after `everyMs`, for what an earlier delegate left; later sweeps follow ended tasks. */
export function createLeftovers(deps: LeftoversDeps): Leftovers {
  const { log, timers, everyMs, user } = deps;
  const endedUsers: Ended = new Map();
  const failedWork = new Set<() => Promise<void>>();
  const pauses: Pauses = createRetries(timers, everyMs);
  const sweep = createSweep(deps, endedUsers, pauses);
  let stop: (() => void) | undefined;

  const retryFailed = async (): Promise<void> => {
    for (const work of [...failedWork].filter(pauses.isDue))
      await work().then(
        () => {
          failedWork.delete(work);
          pauses.recordSuccess(work);
        },
        () => pauses.recordFailure(work),
      );
  };

  const schedule = (): void => {
    stop ??= timers.after(everyMs, () => {
      Promise.all([sweep(), retryFailed()])
        .catch((error: unknown) => log.warn({ error: textOf(error) }, "the search for leftovers of steps failed"))
        .finally(() => {
          stop = undefined;
          if (endedUsers.size > 0 || failedWork.size > 0) schedule();
        });
    });
  };
  // An earlier delegate may not have finished its sweep.
  schedule();

  return {
    releaseUser: (owner) => {
      if (!owner.ownUser) return user.release(owner);
      endedUsers.set(owner.uid, owner);
      schedule();
    },
    retry: (work) => {
      failedWork.add(work);
      schedule();
    },
    stop: () => stop?.(),
  };
}

/** Creates the sweep of all places. It throws if a place cannot be read: then no user is released. */
function createSweep(deps: LeftoversDeps, ended: Ended, pauses: Pauses): () => Promise<void> {
  const { timers, user, folders, keyrings = createKeyrings() } = deps;
  const report = createReporter(deps.log);
  let isFirst = true;
  /** Reserves a user with leftovers from an earlier delegate. */
  const reserveUnused = (uid: number): void => {
    if (ended.has(uid) || !user.isUnused(uid)) return;
    const owner = { uid, gid: uid, ownUser: true };
    user.reserve(owner);
    ended.set(uid, owner);
  };
  const hasEnded = (uid: number): boolean => ended.has(uid) || user.isUnused(uid);
  const search = createPublicSearch({
    timers,
    report,
    isOurs: user.isOurs,
    hasEnded: (uid) => {
      reserveUnused(uid);
      return ended.has(uid);
    },
  });
  const giveBack = (owner: StepOwner): void => {
    ended.delete(owner.uid);
    pauses.recordSuccess(owner.uid);
    user.release(owner);
  };

  return async () => {
    const withKeys = keyrings.users();
    if (isFirst) for (const uid of withKeys) reserveUnused(uid);
    isFirst = false;
    const now = [...ended];
    const found = createFindings();
    for (const uid of await removeSystemV({ hasEnded, isOurs: user.isOurs })) {
      reserveUnused(uid);
      found.usersWithLeftovers.add(uid);
      report("/proc/sysvipc", new Error("something of it is still there"));
    }
    await Promise.all(folders().map((folder) => search(folder, found)));
    const isClean = ([uid]: readonly [number, StepOwner]): boolean =>
      !found.usersWithLeftovers.has(uid) && !found.trees.has(uid) && !withKeys.has(uid);
    for (const [, owner] of now.filter(isClean)) giveBack(owner);
    for (const [uid, owner] of now.filter((one) => !isClean(one))) {
      if (!pauses.isDue(uid)) continue;
      try {
        if (!(await removeTrees(uid, found, report)) || found.usersWithLeftovers.has(uid)) continue;
        if (withKeys.has(uid)) await clearKeys(uid, keyrings, report);
        giveBack(owner);
      } catch {
        pauses.recordFailure(uid);
      }
    }
  };
}

function createFindings(): Findings {
  const budgets = new Map<number, Budget>();
  return {
    usersWithLeftovers: new Set(),
    trees: new Map(),
    totalBudget: { left: MAX_PER_SWEEP },
    budgetOf: (uid) => {
      const budget = budgets.get(uid) ?? { left: MAX_PER_USER };
      budgets.set(uid, budget);
      return budget;
    },
  };
}

/** False: more is left than one sweep removes. @throws the system's error, after reporting it */
async function removeTrees(uid: number, { trees, budgetOf, totalBudget }: Findings, tell: Report): Promise<boolean> {
  for (const path of trees.get(uid) ?? []) {
    const before = Math.min(budgetOf(uid).left, totalBudget.left);
    const budget = { left: before };
    try {
      if (!(await removeTree(path, { budget, uid }))) return false;
    } catch (error) {
      tell(path.toString(), error);
      throw error;
    } finally {
      for (const one of [budgetOf(uid), totalBudget]) one.left -= before - budget.left;
    }
  }
  return true;
}

async function clearKeys(uid: number, keyrings: Keyrings, tell: Report): Promise<void> {
  try {
    await keyrings.clear(uid);
  } catch (error) {
    tell(`the keyrings of user ${uid}`, error);
    throw error;
  }
}

/** Reports each path once. */
function createReporter(log: Pick<Log, "warn">): Report {
  const told = new Set<string>();
  return (what, error) => {
    if (told.has(what) || told.size >= MAX_REPORTED) return;
    told.add(what);
    log.warn({ path: what, error: textOf(error) }, "a leftover of a step could not be removed; the removal is retried");
  };
}
