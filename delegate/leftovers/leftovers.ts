/**
 * What steps leave outside of their folders, where every user may make things: files in /tmp and its like, message
 * queues, System V memory and semaphores, keys. It goes before the user that owns it becomes another task's.
 * Many ended tasks share one look, and a folder that has not changed is not read again.
 *
 * What cannot be removed keeps its own user and no other. A look first finds out who has left something, and gives the
 * others back; then it removes folders and keys, a bounded number for each user and in all.
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

export type Leftovers = {
  /** The task has no process any more. Its user is given back when nothing else of it is left either. */
  readonly releaseUser: (owner: StepOwner) => void;
  /** Does what has failed again, after pauses that get longer, until it does not fail. */
  readonly retry: (work: () => Promise<void>) => void;
  readonly stop: () => void;
};

/** Where a step can leave more than can be told. */
const MAX_REPORTED = 1_000;
/** Entries that are removed at one look, of each user and in all. */
const MAX_PER_USER = 10_000;
const MAX_PER_SWEEP = 40_000;

type Deps = {
  readonly log: Pick<Log, "warn">;
  readonly timers: Timers;
  readonly everyMs: number;
  readonly user: Pick<StepUser, "release" | "isUnused" | "isOurs" | "reserve">;
  /** Where every user may make things; asked at each look. */
  readonly folders: () => readonly string[];
  readonly keyrings?: Keyrings;
};

/** Users of ended tasks of which something may be left. */
type Ended = Map<number, StepOwner>;
type Pauses = Retries<number | (() => Promise<void>)>;
type Report = (what: string, error: unknown) => void;

export function createLeftovers(deps: Deps): Leftovers {
  const { log, timers, everyMs, user } = deps;
  const ended: Ended = new Map();
  const failedWork = new Set<() => Promise<void>>();
  const pauses: Pauses = createRetries(timers, everyMs);
  const sweep = createSweep(deps, ended, pauses);
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
        .catch((error: unknown) =>
          log.warn({ error: textOf(error) }, "what steps leave behind could not be looked for"),
        )
        .finally(() => {
          stop = undefined;
          if (ended.size > 0 || failedWork.size > 0) schedule();
        });
    });
  };
  // An earlier delegate may not have come to it.
  schedule();

  return {
    releaseUser: (owner) => {
      if (!owner.ownUser) return user.release(owner);
      ended.set(owner.uid, owner);
      schedule();
    },
    retry: (work) => {
      failedWork.add(work);
      schedule();
    },
    stop: () => stop?.(),
  };
}

/** One look at all places. @throws when it cannot be known what is there: then no user is given back */
function createSweep(deps: Deps, ended: Ended, pauses: Pauses): () => Promise<void> {
  const { timers, user, folders, keyrings = createKeyrings() } = deps;
  const report = createReporter(deps.log);
  let isFirst = true;
  /** What an earlier delegate has not removed keeps its user, as what a task of this one has left does. */
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

/** False: more is left than is removed at one look. @throws the system's error, which it has told */
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

/** Each once. */
function createReporter(log: Pick<Log, "warn">): Report {
  const told = new Set<string>();
  return (what, error) => {
    if (told.has(what) || told.size >= MAX_REPORTED) return;
    told.add(what);
    log.warn(
      { path: what, error: textOf(error) },
      "what a step has left behind could not be removed; it is tried again",
    );
  };
}
