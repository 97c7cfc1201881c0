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
import { type Found, createPublicSearch } from "./public-search.ts";
import { type Budget, removeTree } from "../work-folder/remove-tree.ts";
import { createRetries, type Retries } from "./retries.ts";
import type { StepOwner, StepUser } from "../isolation/step-user.ts";
import { removeSystemV } from "./system-v.ts";
import type { Timers } from "../timers.ts";

export type Leftovers = {
  /** The task has no process any more. Its user is given back when nothing else of it is left either. */
  readonly end: (owner: StepOwner) => void;
  /** Does what has failed again, after pauses that get longer, until it does not fail. */
  readonly again: (work: () => Promise<void>) => void;
  readonly stop: () => void;
};

/** Where a step can leave more than can be told. */
const MAX_TOLD = 1_000;
/** Entries that are removed at one look, of each user and in all. */
const MAX_OF_USER = 10_000;
const MAX_OF_LOOK = 40_000;

type Deps = {
  readonly log: Pick<Log, "warn">;
  readonly timers: Timers;
  readonly everyMs: number;
  readonly user: Pick<StepUser, "giveBack" | "isUnused" | "isOurs" | "keep">;
  /** Where every user may make things; asked at each look. */
  readonly folders: () => readonly string[];
  readonly keyrings?: Keyrings;
};

/** Users of ended tasks of which something may be left. */
type Ended = Map<number, StepOwner>;
type Pauses = Retries<number | (() => Promise<void>)>;
type Tell = (what: string, error: unknown) => void;

export function createLeftovers(deps: Deps): Leftovers {
  const { log, timers, everyMs, user } = deps;
  const ended: Ended = new Map();
  const works = new Set<() => Promise<void>>();
  const pauses: Pauses = createRetries(timers, everyMs);
  const look = makeLook(deps, ended, pauses);
  let stop: (() => void) | undefined;

  const repeat = async (): Promise<void> => {
    for (const work of [...works].filter(pauses.isDue))
      await work().then(
        () => {
          works.delete(work);
          pauses.succeeded(work);
        },
        () => pauses.failed(work),
      );
  };

  const soon = (): void => {
    stop ??= timers.after(everyMs, () => {
      Promise.all([look(), repeat()])
        .catch((error: unknown) =>
          log.warn({ error: textOf(error) }, "what steps leave behind could not be looked for"),
        )
        .finally(() => {
          stop = undefined;
          if (ended.size > 0 || works.size > 0) soon();
        });
    });
  };
  // An earlier delegate may not have come to it.
  soon();

  return {
    end: (owner) => {
      if (!owner.ownUser) return user.giveBack(owner);
      ended.set(owner.uid, owner);
      soon();
    },
    again: (work) => {
      works.add(work);
      soon();
    },
    stop: () => stop?.(),
  };
}

/** One look at all places. @throws when it cannot be known what is there: then no user is given back */
function makeLook(deps: Deps, ended: Ended, pauses: Pauses): () => Promise<void> {
  const { timers, user, folders, keyrings = createKeyrings() } = deps;
  const tell = makeTell(deps.log);
  let isFirst = true;
  /** What an earlier delegate has not removed keeps its user, as what a task of this one has left does. */
  const keepUnused = (uid: number): void => {
    if (ended.has(uid) || !user.isUnused(uid)) return;
    const owner = { uid, gid: uid, ownUser: true };
    user.keep(owner);
    ended.set(uid, owner);
  };
  const isLeft = (uid: number): boolean => ended.has(uid) || user.isUnused(uid);
  const search = createPublicSearch({
    timers,
    tell,
    isOurs: user.isOurs,
    isLeft: (uid) => {
      keepUnused(uid);
      return ended.has(uid);
    },
  });
  const giveBack = (owner: StepOwner): void => {
    ended.delete(owner.uid);
    pauses.succeeded(owner.uid);
    user.giveBack(owner);
  };

  return async () => {
    const withKeys = keyrings.users();
    if (isFirst) for (const uid of withKeys) keepUnused(uid);
    isFirst = false;
    const now = [...ended];
    const found = newFound();
    for (const uid of await removeSystemV({ isLeft, isOurs: user.isOurs })) {
      keepUnused(uid);
      found.kept.add(uid);
      tell("/proc/sysvipc", new Error("something of it is still there"));
    }
    await Promise.all(folders().map((folder) => search(folder, found)));
    const isClean = ([uid]: readonly [number, StepOwner]): boolean =>
      !found.kept.has(uid) && !found.trees.has(uid) && !withKeys.has(uid);
    for (const [, owner] of now.filter(isClean)) giveBack(owner);
    for (const [uid, owner] of now.filter((one) => !isClean(one))) {
      if (!pauses.isDue(uid)) continue;
      try {
        if (!(await removeTrees(uid, found, tell)) || found.kept.has(uid)) continue;
        if (withKeys.has(uid)) await clearKeys(uid, keyrings, tell);
        giveBack(owner);
      } catch {
        pauses.failed(uid);
      }
    }
  };
}

function newFound(): Found {
  const budgets = new Map<number, Budget>();
  return {
    kept: new Set(),
    trees: new Map(),
    all: { left: MAX_OF_LOOK },
    budgetOf: (uid) => {
      const budget = budgets.get(uid) ?? { left: MAX_OF_USER };
      budgets.set(uid, budget);
      return budget;
    },
  };
}

/** False: more is left than is removed at one look. @throws the system's error, which it has told */
async function removeTrees(uid: number, { trees, budgetOf, all }: Found, tell: Tell): Promise<boolean> {
  for (const path of trees.get(uid) ?? []) {
    const before = Math.min(budgetOf(uid).left, all.left);
    const budget = { left: before };
    try {
      if (!(await removeTree(path, { budget, uid }))) return false;
    } catch (error) {
      tell(path.toString(), error);
      throw error;
    } finally {
      for (const one of [budgetOf(uid), all]) one.left -= before - budget.left;
    }
  }
  return true;
}

async function clearKeys(uid: number, keyrings: Keyrings, tell: Tell): Promise<void> {
  try {
    await keyrings.clear(uid);
  } catch (error) {
    tell(`the keyrings of user ${uid}`, error);
    throw error;
  }
}

/** Each once. */
function makeTell(log: Pick<Log, "warn">): Tell {
  const told = new Set<string>();
  return (what, error) => {
    if (told.has(what) || told.size >= MAX_TOLD) return;
    told.add(what);
    log.warn(
      { path: what, error: textOf(error) },
      "what a step has left behind could not be removed; it is tried again",
    );
  };
}
