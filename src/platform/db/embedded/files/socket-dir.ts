import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Account } from "../account.ts";
import { restrictToAccount } from "./folders.ts";

export const PORT = 5432;
/** PostgreSQL defines this name. */
export const SOCKET = `.s.PGSQL.${PORT}`;
export const SHORT_PREFIX = "railhead-";

/** The longest path of a socket, without the final zero: 108 bytes on Linux, 104 on macOS. */
const PATH_AT_MOST = process.platform === "linux" ? 107 : 103;

export type SocketDir = { readonly path: string; readonly remove: () => Promise<void> };

/**
 * The folder for the socket: `wanted` if its path is short enough, otherwise a new private folder in the temporary
 * one.
 */
export async function createSocketDir(wanted: string, account: Account): Promise<SocketDir> {
  if (fits(wanted)) return { path: wanted, remove: async () => {} };
  const path = await mkdtemp(join(fits(join(tmpdir(), `${SHORT_PREFIX}123456`)) ? tmpdir() : "/tmp", SHORT_PREFIX));
  await restrictToAccount(path, account);
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

function fits(folder: string): boolean {
  return Buffer.byteLength(join(folder, SOCKET)) <= PATH_AT_MOST;
}
