/**
 * Removes what a step has made. It may have given an open folder of its own to
 * another step, which can put a link there while we are at work: a path like
 * `a/b/c` would then lead out, with the delegate's rights. So each folder is
 * opened, never through a link, and its entries are named below its descriptor.
 */
import { constants } from "node:fs";
import { chmod, type FileHandle, open, readdir, rmdir, unlink } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { codeOf } from "./fault.ts";

/** Linux's O_PATH, which Node does not name: whatever the folder's mode is, it can be opened for this. */
const O_PATH = 0o10_000_000;
const FOLDER = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** The folder or file, and all that it holds. It may be gone already. */
export async function removeTree(path: string): Promise<void> {
  const parent = await openFolder(dirname(path));
  if (!parent) return;
  try {
    await removeEntry(below(parent), basename(path));
  } finally {
    await parent.close();
  }
}

const below = (folder: FileHandle): string => `/proc/self/fd/${folder.fd}`;

async function removeEntry(parent: string, name: string): Promise<void> {
  const path = `${parent}/${name}`;
  try {
    await unlink(path);
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT") return;
    if (code !== "EISDIR" && code !== "EPERM" && code !== "EACCES") throw error;
    await removeFolder(path);
  }
}

async function removeFolder(path: string): Promise<void> {
  const folder = await openFolder(path);
  if (!folder) return;
  try {
    // Package caches make their folders read-only; the owner may open them again.
    const here = below(folder);
    await chmod(here, 0o700);
    for (const name of await readdir(here)) await removeEntry(here, name);
  } finally {
    await folder.close();
  }
  await rmdir(path);
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
