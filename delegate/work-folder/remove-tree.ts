/**
 * Removes what a step has made. It may have given an open folder of its own to
 * another step, which can put a link there while we are at work: a path like
 * `a/b/c` would then lead out, with the delegate's rights. So each folder is
 * opened, never through a link, and its entries are named below its descriptor.
 *
 * Another step that lives may have made folders in the tree, and hold them open. As root the delegate takes each folder
 * before it reads it: the owner becomes that of the tree, and no other user may write there any more.
 *
 * However deep and wide the tree is, two folders are open at once, and few names are in memory: folders in folders are
 * moved up, and names are read in batches. The budget bounds the number of entries that one call removes or moves.
 */
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { chmod, chown, type FileHandle, open, rename, rmdir, unlink } from "node:fs/promises";
import { codeOf } from "../fault.ts";
import { readNames, joinPath } from "./entry-names.ts";

/** Linux's O_PATH, which Node does not name: whatever the folder's mode is, it can be opened for this. */
const O_PATH = 0o10_000_000;
const FOLDER = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** So often a folder may have got new entries while it was emptied: without root another step can still write there. */
const MAX_REFILLS = 1_000;
/** Entries that one call removes or moves, unless the caller says otherwise. */
const DEFAULT_BUDGET = 1_000_000;
const SLASH = 0x2f;

/** Entries that may still be removed or moved. It counts down. */
export type Budget = { left: number };

type Removal = {
  readonly budget?: Budget;
  /** A folder of another user is not removed: it has come in the place of the one that is meant. */
  readonly uid?: number;
};

/**
 * The folder or file, and all that it holds. It may be gone already. False: the budget is used up and something is left.
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

/** What the entries of one tree are removed with. */
type Tree = {
  /** The folder that all others are moved to. */
  readonly top: string;
  /** Who gets each folder before it is read; undefined: without root it stays with its owner. */
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
  // Whatever could not be removed makes this fail.
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

/** Removes the entry; folders that it holds come to the top. */
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
    // Its entry `..` changes, for which an ordinary user must be allowed to write there.
    await withFolder(path, owner, () => rename(path, to).catch(ignoreMissing));
  }
}

/** False when it is a folder, or may be one. */
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

/** Does nothing when it is gone, or another thing by now. */
async function withFolder(
  path: Buffer,
  owner: Owner | undefined,
  work: (here: string) => Promise<void>,
): Promise<void> {
  const folder = await openFolder(path);
  if (!folder) return;
  try {
    // The owner first: the former one could change the mode again. Some file systems have no owners.
    if (owner) await chown(descriptorPath(folder), owner.uid, owner.gid).catch(() => {});
    // Package caches make their folders read-only; the owner may open them again. It also shuts out other users.
    await chmod(descriptorPath(folder), 0o700);
    await work(descriptorPath(folder));
  } finally {
    await folder.close();
  }
}

/** Undefined when it is gone, or another thing by now. */
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
