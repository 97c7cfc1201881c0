/**
 * Removes files that a step has created. The step may have passed an open folder to
 * another step, which can create a link there during the removal: a path like
 * `a/b/c` would then lead elsewhere, with the delegate's rights. So each folder is
 * opened without following links, and its entries are named below its descriptor.
 *
 * Another running step may have created folders in the tree and have them open. As root the delegate changes the owner
 * of each folder to that of the tree before it reads it, so that no other user can write there.
 *
 * However deep and wide the tree is, two folders are open at once, and few names are in memory: folders in folders are
 * moved up, and names are read in batches. The budget bounds the number of entries that one call removes or moves.
 */
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { chmod, chown, type FileHandle, open, rename, rmdir, unlink } from "node:fs/promises";
import { codeOf } from "../fault.ts";
import { readNames, joinPath } from "./entry-names.ts";

/** Linux's O_PATH, which Node does not define: opens a folder independently of its mode. */
const O_PATH = 0o10_000_000;
const FOLDER = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** How often a folder may get new entries during its removal: without root another step can still write there. */
const MAX_REFILLS = 1_000;
/** Entries that one call removes or moves, unless the caller says otherwise. */
const DEFAULT_BUDGET = 1_000_000;
const SLASH = 0x2f;

/** Entries that may still be removed or moved. It counts down. */
export type Budget = { left: number };

type Removal = {
  readonly budget?: Budget;
  /** Only a folder of this user is removed; another one has replaced the intended folder. */
  readonly uid?: number;
};

/**
 * Removes a file, or a folder with its content; a missing one counts as removed. False: the budget is used up and
 * entries remain.
 * @param path absolute
 * @throws the system's error; it can be tried again
 */
export async function removeTree(path: Buffer | string, removal: Removal = {}): Promise<boolean> {
  const bytes = Buffer.from(path);
  const slash = bytes.lastIndexOf(SLASH);
  const parent = await openFolder(bytes.subarray(0, Math.max(slash, 1)));
  if (!parent) return true;
  try {
    const entry = joinPath(descriptorPath(parent), bytes.subarray(slash + 1));
    await removeEntry(entry, removal.budget ?? { left: DEFAULT_BUDGET }, removal.uid);
    return true;
  } catch (error) {
    if (error instanceof BudgetUsedUp) return false;
    throw error;
  } finally {
    await parent.close();
  }
}

class BudgetUsedUp extends Error {}

const descriptorPath = (folder: FileHandle): string => `/proc/self/fd/${folder.fd}`;

type Owner = { readonly uid: number; readonly gid: number };

/** State of the removal of one tree. */
type Tree = {
  /** The folder that inner folders are moved to. */
  readonly top: string;
  /** New owner of each folder; undefined: without root the owner does not change. */
  readonly owner: Owner | undefined;
  readonly budget: Budget;
};

function spend(budget: Budget): void {
  if (budget.left <= 0) throw new BudgetUsedUp("more is left than is removed at once");
  budget.left -= 1;
}

async function removeEntry(path: Buffer, budget: Budget, uid: number | undefined): Promise<void> {
  spend(budget);
  if (await tryUnlink(path)) return;
  const folder = await openFolder(path);
  if (folder) {
    try {
      const owner = await folder.stat();
      if (uid !== undefined && owner.uid !== uid) return;
      await chmod(descriptorPath(folder), 0o700);
      await emptyFolder({ top: descriptorPath(folder), owner: process.getuid?.() === 0 ? owner : undefined, budget });
    } finally {
      await folder.close();
    }
  }
  // Fails if an entry could not be removed.
  await rmdir(path).catch(ignoreMissing);
}

async function emptyFolder(tree: Tree): Promise<void> {
  let refilled = 0;
  let isMoving = true;
  while (isMoving) {
    isMoving = false;
    for await (const name of readNames(tree.top)) {
      const done = await flatten(tree, name);
      isMoving ||= done !== "nothing";
      if (done === "refilled") refilled += 1;
      if (refilled > MAX_REFILLS) throw new Error("a folder is filled while it is removed");
    }
  }
}

/** Removes the entry; moves folders in it to `top`. */
async function flatten(tree: Tree, name: Buffer): Promise<"done" | "refilled" | "nothing"> {
  const path = joinPath(tree.top, name);
  spend(tree.budget);
  if (await tryUnlink(path)) return "done";
  let hasMoved = false;
  await withFolder(path, tree.owner, async (here) => {
    for await (const inner of readNames(here)) {
      const from = joinPath(here, inner);
      spend(tree.budget);
      if (!(await tryUnlink(from))) await moveUp(from, tree);
      hasMoved = true;
    }
  });
  try {
    await rmdir(path);
    return "done";
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOTDIR") return hasMoved ? "done" : "nothing";
    if (code === "ENOENT") return "done";
    if (code === "ENOTEMPTY" || code === "EEXIST") return "refilled";
    throw error;
  }
}

async function moveUp(path: Buffer, { top, owner }: Tree): Promise<void> {
  const to = `${top}/${randomBytes(12).toString("base64url")}`;
  try {
    await rename(path, to).catch(ignoreMissing);
  } catch (error) {
    if (codeOf(error) !== "EACCES") throw error;
    // A move changes the folder's entry `..`, which needs write permission in it.
    await withFolder(path, owner, () => rename(path, to).catch(ignoreMissing));
  }
}

/** False if the path is or may be a folder. */
async function tryUnlink(path: Buffer): Promise<boolean> {
  try {
    await unlink(path);
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT") return true;
    if (code !== "EISDIR" && code !== "EPERM" && code !== "EACCES") throw error;
    return false;
  }
}

/** Does nothing if the path is no longer a folder. */
async function withFolder(
  path: Buffer,
  owner: Owner | undefined,
  work: (here: string) => Promise<void>,
): Promise<void> {
  const folder = await openFolder(path);
  if (!folder) return;
  try {
    // The owner first: the previous one could change the mode again. Some file systems have no owners.
    if (owner) await chown(descriptorPath(folder), owner.uid, owner.gid).catch(() => {});
    // Package caches make their folders read-only; the owner may open them again. It also shuts out other users.
    await chmod(descriptorPath(folder), 0o700);
    await work(descriptorPath(folder));
  } finally {
    await folder.close();
  }
}

/** Undefined if the path is no longer a folder. */
async function openFolder(path: Buffer): Promise<FileHandle | undefined> {
  try {
    return await open(path, FOLDER);
  } catch (error) {
    if (["ENOENT", "ELOOP", "ENOTDIR"].includes(codeOf(error) ?? "")) return undefined;
    throw error;
  }
}

function ignoreMissing(error: unknown): void {
  if (codeOf(error) !== "ENOENT") throw error;
}
