/** Looks through one folder in which every user may make things for what ended steps have left there. */
import { lstatSync, statSync, type Stats } from "node:fs";
import { unlink } from "node:fs/promises";
import { codeOf } from "../fault.ts";
import { namesIn, pathOf } from "../work-folder/entry-names.ts";
import type { Budget } from "../work-folder/remove-tree.ts";
import type { Timers } from "../timers.ts";

/** What one look has found, in all folders. */
export type Found = {
  /** Users of whom something is still there that is not in `trees`. */
  readonly kept: Set<number>;
  /** Folders to remove, of each user. */
  readonly trees: Map<number, Buffer[]>;
  /** What may be removed of a user at this look, and of all users. */
  readonly budgetOf: (uid: number) => Budget;
  readonly all: Budget;
};

/** A folder's time of change counts in steps of a few milliseconds. */
const GRAIN_MS = 100;
/** Folders of one user that are kept in memory; more are found at the next look. */
const MAX_TREES = 1_000;

type Deps = {
  readonly timers: Pick<Timers, "now">;
  readonly tell: (path: string, error: unknown) => void;
  /** Its task has ended. */
  readonly isLeft: (uid: number) => boolean;
  /** A user of steps of this work folder. */
  readonly isOurs: (uid: number) => boolean;
};

/**
 * Removes files of ended users, and adds their folders to `trees`.
 * @throws when the delegate itself lacks memory or descriptors: then it is not known what is there
 */
export function createPublicSearch({
  timers,
  tell,
  isLeft,
  isOurs,
}: Deps): (folder: string, found: Found) => Promise<void> {
  const seen = new Map<string, { readonly changedAt: number; readonly lookedAt: number }>();

  /** Answers whether it is gone. */
  const removed = async (path: Buffer, uid: number, found: Found): Promise<boolean> => {
    const budget = found.budgetOf(uid);
    if (budget.left <= 0 || found.all.left <= 0) return false;
    for (const one of [budget, found.all]) one.left -= 1;
    try {
      await unlink(path);
      return true;
    } catch (error) {
      if (codeOf(error) === "ENOENT") return true;
      tell(path.toString(), error);
      return false;
    }
  };

  const take = async (path: Buffer, stat: Stats, found: Found): Promise<boolean> => {
    const { uid } = stat;
    if (!stat.isDirectory()) {
      if (await removed(path, uid, found)) return true;
      found.kept.add(uid);
      return false;
    }
    const trees = found.trees.get(uid) ?? [];
    found.trees.set(uid, trees);
    if (trees.length < MAX_TREES) trees.push(path);
    else found.kept.add(uid);
    return false;
  };

  return async (folder, found) => {
    try {
      const changedAt = statSync(folder, { throwIfNoEntry: false })?.mtimeMs;
      const last = seen.get(folder);
      if (changedAt === undefined || (last?.changedAt === changedAt && changedAt < last.lookedAt - GRAIN_MS)) return;
      seen.delete(folder);
      const lookedAt = timers.now();
      // What a step has made that still runs goes when it has ended, which does not change the folder.
      let isDone = true;
      for await (const name of namesIn(folder)) {
        const path = pathOf(folder, name);
        const stat = statOf(path);
        if (stat === undefined) continue;
        if (isLeft(stat.uid)) isDone = (await take(path, stat, found)) && isDone;
        else if (isOurs(stat.uid)) isDone = false;
      }
      if (isDone) seen.set(folder, { changedAt, lookedAt });
    } catch (error) {
      if (isShort(error)) throw error;
      // As where another user has mounted a file system that refuses root. The other folders still count.
      if (!GONE.has(codeOf(error) ?? "")) tell(folder, error);
    }
  };
}

/** It is not there any more; the launcher whose view it is has ended. */
const GONE: ReadonlySet<string> = new Set(["ENOENT", "ESRCH", "EACCES", "EPERM"]);

const isShort = (error: unknown): boolean => ["EMFILE", "ENFILE", "ENOMEM"].includes(codeOf(error) ?? "");

/** Undefined when it is gone, or nothing that can be looked at, as where another user has mounted a file system. */
function statOf(path: Buffer): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (isShort(error)) throw error;
    return undefined;
  }
}
