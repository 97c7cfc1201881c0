/** Searches one folder that every user can write to for leftovers of ended steps. */
import { lstatSync, statSync, type Stats } from "node:fs";
import { unlink } from "node:fs/promises";
import { codeOf } from "../fault.ts";
import { readNames, joinPath } from "../work-folder/entry-names.ts";
import type { Budget } from "../work-folder/remove-tree.ts";
import type { Timers } from "../timers.ts";

/** Findings of one sweep, in all folders. */
export type Findings = {
  /** Users with leftovers that are not in `trees`. */
  readonly usersWithLeftovers: Set<number>;
  /** Folders to remove, of each user. */
  readonly trees: Map<number, Buffer[]>;
  /** Entries that this sweep may still remove for a user, and in total. */
  readonly budgetOf: (uid: number) => Budget;
  readonly totalBudget: Budget;
};

/** A folder's change time has a resolution of a few milliseconds. */
const CHANGE_TIME_RESOLUTION_MS = 100;
/** Folders of one user that one sweep stores; the next sweep finds the others. */
const MAX_TREES = 1_000;

type Deps = {
  readonly timers: Pick<Timers, "now">;
  readonly report: (path: string, error: unknown) => void;
  /** The task of the user has ended. */
  readonly hasEnded: (uid: number) => boolean;
  /** A user of steps of this work folder. */
  readonly isOurs: (uid: number) => boolean;
};

/**
 * Removes files of ended users, and adds their folders to `trees`.
 * @throws if the delegate lacks memory or descriptors: then the folder cannot be read
 */
export function createPublicSearch({
  timers,
  report,
  hasEnded,
  isOurs,
}: Deps): (folder: string, found: Findings) => Promise<void> {
  const seen = new Map<string, { readonly changedAt: number; readonly lookedAt: number }>();

  /** Removes the file; returns whether it no longer exists. */
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

  const addLeftover = async (path: Buffer, stat: Stats, found: Findings): Promise<boolean> => {
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
      // Files of a running step are removed after its end, which does not change the folder.
      let isDone = true;
      for await (const name of readNames(folder)) {
        const path = joinPath(folder, name);
        const stat = statOf(path);
        if (stat === undefined) continue;
        if (hasEnded(stat.uid)) isDone = (await addLeftover(path, stat, found)) && isDone;
        else if (isOurs(stat.uid)) isDone = false;
      }
      if (isDone) seen.set(folder, { changedAt, lookedAt });
    } catch (error) {
      if (isOutOfResources(error)) throw error;
      // For example another user has mounted a file system that refuses root. The search of other folders continues.
      if (!INACCESSIBLE.has(codeOf(error) ?? "")) report(folder, error);
    }
  };
}

/** Errors of a path that is missing, not permitted, or seen through an ended launcher. */
const INACCESSIBLE: ReadonlySet<string> = new Set(["ENOENT", "ESRCH", "EACCES", "EPERM"]);

const isOutOfResources = (error: unknown): boolean => ["EMFILE", "ENFILE", "ENOMEM"].includes(codeOf(error) ?? "");

/** Undefined if the path is missing or not readable, for example on a file system that another user has mounted. */
function statOf(path: Buffer): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (isOutOfResources(error)) throw error;
    return undefined;
  }
}
