/** Looks through one folder in which every user may make things for what ended steps have left there. */
import { lstatSync, statSync, type Stats } from "node:fs";
import { unlink } from "node:fs/promises";
import { codeOf } from "../fault.ts";
import { readNames, joinPath } from "../work-folder/entry-names.ts";
import type { Budget } from "../work-folder/remove-tree.ts";
import type { Timers } from "../timers.ts";

/** What one look has found, in all folders. */
export type Findings = {
  /** Users of whom something is still there that is not in `trees`. */
  readonly usersWithLeftovers: Set<number>;
  /** Folders to remove, of each user. */
  readonly trees: Map<number, Buffer[]>;
  /** What may be removed of a user at this look, and of all users. */
  readonly budgetOf: (uid: number) => Budget;
  readonly totalBudget: Budget;
};

/** A folder's time of change counts in steps of a few milliseconds. */
const CHANGE_TIME_RESOLUTION_MS = 100;
/** Folders of one user that are kept in memory; more are found at the next look. */
const MAX_TREES = 1_000;

type Deps = {
  readonly timers: Pick<Timers, "now">;
  readonly report: (path: string, error: unknown) => void;
  /** Its task has ended. */
  readonly hasEnded: (uid: number) => boolean;
  /** A user of steps of this work folder. */
  readonly isOurs: (uid: number) => boolean;
};

/**
 * Removes files of ended users, and adds their folders to `trees`.
 * @throws when the delegate itself lacks memory or descriptors: then it is not known what is there
 */
export function createPublicSearch({
  timers,
  report,
  hasEnded,
  isOurs,
}: Deps): (folder: string, found: Findings) => Promise<void> {
  const seen = new Map<string, { readonly changedAt: number; readonly lookedAt: number }>();

  /** Answers whether it is gone. */
  const removeFile = async (path: Buffer, uid: number, found: Findings): Promise<boolean> => {
    const budget = found.budgetOf(uid);
    if (budget.left <= 0 || found.totalBudget.left <= 0) return false;
    for (const one of [budget, found.totalBudget]) one.left -= 1;
    try {
      await unlink(path);
      return true;
    } catch (error) {
      if (codeOf(error) === "ENOENT") return true;
      report(path.toString(), error);
      return false;
    }
  };

  const take = async (path: Buffer, stat: Stats, found: Findings): Promise<boolean> => {
    const { uid } = stat;
    if (!stat.isDirectory()) {
      if (await removeFile(path, uid, found)) return true;
      found.usersWithLeftovers.add(uid);
      return false;
    }
    const trees = found.trees.get(uid) ?? [];
    found.trees.set(uid, trees);
    if (trees.length < MAX_TREES) trees.push(path);
    else found.usersWithLeftovers.add(uid);
    return false;
  };

  return async (folder, found) => {
    try {
      const changedAt = statSync(folder, { throwIfNoEntry: false })?.mtimeMs;
      const last = seen.get(folder);
      if (
        changedAt === undefined ||
        (last?.changedAt === changedAt && changedAt < last.lookedAt - CHANGE_TIME_RESOLUTION_MS)
      )
        return;
      seen.delete(folder);
      const lookedAt = timers.now();
      // What a step has made that still runs goes when it has ended, which does not change the folder.
      let isDone = true;
      for await (const name of readNames(folder)) {
        const path = joinPath(folder, name);
        const stat = statOf(path);
        if (stat === undefined) continue;
        if (hasEnded(stat.uid)) isDone = (await take(path, stat, found)) && isDone;
        else if (isOurs(stat.uid)) isDone = false;
      }
      if (isDone) seen.set(folder, { changedAt, lookedAt });
    } catch (error) {
      if (isOutOfResources(error)) throw error;
      // As where another user has mounted a file system that refuses root. The other folders still count.
      if (!INACCESSIBLE.has(codeOf(error) ?? "")) report(folder, error);
    }
  };
}

/** It is not there any more; the launcher whose view it is has ended. */
const INACCESSIBLE: ReadonlySet<string> = new Set(["ENOENT", "ESRCH", "EACCES", "EPERM"]);

const isOutOfResources = (error: unknown): boolean => ["EMFILE", "ENFILE", "ENOMEM"].includes(codeOf(error) ?? "");

/** Undefined when it is gone, or nothing that can be looked at, as where another user has mounted a file system. */
function statOf(path: Buffer): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (isOutOfResources(error)) throw error;
    return undefined;
  }
}
