/**
 * Removes what a step has made. It may have given an open folder of its own to
 * another step, which can put a link there while we are at work: a path like
 * `a/b/c` would then lead out, with the delegate's rights. So each folder is
 * opened, never through a link, and its entries are named below its descriptor.
 *
 * However deep and wide the tree is, few descriptors are open and few names are in memory: folders in folders are
 * moved up, and names are read in batches.
 */
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { chmod, type FileHandle, open, opendir, rename, rmdir, unlink } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { codeOf } from "./fault.ts";

/** Linux's O_PATH, which Node does not name: whatever the folder's mode is, it can be opened for this. */
const O_PATH = 0o10_000_000;
const FOLDER = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Names that are read at once. */
export const BATCH = 1_000;
/** So often a folder may have got new entries while it was emptied: another step can still write there. */
const MAX_REFILLED = 1_000;

/** The folder or file, and all that it holds. It may be gone already. @throws the system's error; it can be tried again */
export async function removeTree(path: string): Promise<void> {
  const parent = await openFolder(dirname(path));
  if (!parent) return;
  try {
    await removeEntry(`${below(parent)}/${basename(path)}`);
  } finally {
    await parent.close();
  }
}

const below = (folder: FileHandle): string => `/proc/self/fd/${folder.fd}`;

async function removeEntry(path: string): Promise<void> {
  if (await unlinked(path)) return;
  await inFolder(path, async (top) => {
    let refilled = 0;
    let isMoving = true;
    while (isMoving) {
      isMoving = false;
      for await (const { name } of await opendir(top, { bufferSize: BATCH })) {
        const done = await flatten(top, name);
        isMoving ||= done !== "nothing";
        if (done === "refilled") refilled += 1;
        if (refilled > MAX_REFILLED) throw new Error(`${path} is filled while it is removed`);
      }
    }
  });
  // Whatever could not be removed makes this fail.
  await rmdir(path).catch(unlessGone);
}

/** Removes the entry; folders that it holds come to `top`. */
async function flatten(top: string, name: string): Promise<"done" | "refilled" | "nothing"> {
  const path = `${top}/${name}`;
  if (await unlinked(path)) return "done";
  let hasMoved = false;
  await inFolder(path, async (here) => {
    for await (const entry of await opendir(here, { bufferSize: BATCH })) {
      const inner = `${here}/${entry.name}`;
      if (!(await unlinked(inner))) await moveUp(inner, top);
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

async function moveUp(path: string, top: string): Promise<void> {
  const to = `${top}/${randomBytes(12).toString("base64url")}`;
  try {
    await rename(path, to).catch(unlessGone);
  } catch (error) {
    if (codeOf(error) !== "EACCES") throw error;
    // Its entry `..` changes, for which an ordinary user must be allowed to write there.
    await inFolder(path, () => rename(path, to).catch(unlessGone));
  }
}

/** False when it is a folder, or may be one. */
async function unlinked(path: string): Promise<boolean> {
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
async function inFolder(path: string, work: (here: string) => Promise<void>): Promise<void> {
  const folder = await openFolder(path);
  if (!folder) return;
  try {
    // Package caches make their folders read-only; the owner may open them again. It also shuts out other users.
    await chmod(below(folder), 0o700);
    await work(below(folder));
  } finally {
    await folder.close();
  }
}

/** Undefined when it is gone, or another thing by now. */
async function openFolder(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, FOLDER);
  } catch (error) {
    if (["ENOENT", "ELOOP", "ENOTDIR"].includes(codeOf(error) ?? "")) return undefined;
    throw error;
  }
}

function unlessGone(error: unknown): void {
  if (codeOf(error) !== "ENOENT") throw error;
}
