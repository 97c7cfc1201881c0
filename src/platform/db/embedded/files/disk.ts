import { statfs } from "node:fs/promises";
import { problem } from "../problems.ts";

const MiB = 1024 * 1024;
/** Programs (60 MB where they must be copied), the new database (40 MB) and its first log segments. */
export const ROOM_TO_CREATE = 192 * MiB;
/** One log segment and some pages: with less, PostgreSQL's recovery may fail. */
export const ROOM_TO_START = 24 * MiB;

/**
 * Rejects with `embedded.disk_full` when the file system of `folder` has less than `needed` bytes for an ordinary
 * user.
 */
export async function requireRoom(folder: string, needed: number, purpose: "be made" | "start"): Promise<void> {
  const free = await freeBytes(folder);
  if (free < needed) throw diskFull(folder, { free, needed, purpose });
}

/** Returns the problem if `output`, the last output of PostgreSQL, reports a full disk. */
export async function diskFullFrom(
  output: string,
  folder: string,
  purpose: "be made" | "start",
): Promise<Error | undefined> {
  if (!/No space left on device|Disk quota exceeded/i.test(output)) return undefined;
  const needed = purpose === "be made" ? ROOM_TO_CREATE : ROOM_TO_START;
  return diskFull(folder, { free: await freeBytes(folder), needed, purpose });
}

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

type Shortage = { readonly free: number; readonly needed: number; readonly purpose: string };

function diskFull(folder: string, { free, needed, purpose }: Shortage): Error {
  return problem("embedded.disk_full", [`${free} bytes`, folder, `${needed} bytes`, purpose], { retryAfter: 30 });
}
