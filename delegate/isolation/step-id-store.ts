/**
 * The database for step-ids.ts, one for each machine: it records which work folder owns which block of user ids.
 */
import { existsSync, mkdirSync, statfsSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { codeOf, isFull } from "../fault.ts";

/** `owner`: hash of the work folder's identity. */
export type BlockRow = { readonly block: number; readonly owner: string; readonly workDir: string };

const LOCK_TIMEOUT_MS = 10_000;

/** All rows; none if the database does not exist. */
export function readBlocks(path: string): readonly BlockRow[] {
  if (!existsSync(path)) return [];
  const file = new DatabaseSync(path, { timeout: LOCK_TIMEOUT_MS });
  try {
    return file.prepare(`select block, owner, work_dir as "workDir" from blocks`).all() as BlockRow[];
  } finally {
    file.close();
  }
}

/**
 * Runs `choose` with a write lock on the rows. The row that it returns replaces the rows of its block and of its owner.
 */
export function saveBlock(path: string, choose: (rows: readonly BlockRow[]) => BlockRow): BlockRow {
  mkdirSync(dirname(path), { recursive: true, mode: 0o711 });
  // SQLite would create it readable for all users, and a user who can read a file can lock it.
  writeFileSync(path, "", { flag: "a", mode: 0o600 });
  const file = new DatabaseSync(path, { timeout: LOCK_TIMEOUT_MS });
  try {
    file.exec("begin immediate");
    file.exec(
      "create table if not exists blocks (block integer primary key, owner text not null unique, work_dir text not null)",
    );
    const rows = file.prepare(`select block, owner, work_dir as "workDir" from blocks`).all() as BlockRow[];
    const chosen = choose(rows);
    // An unchanged registry is not written, since a delegate has to start on a full disk, too.
    if (rows.some((row) => isSameRow(row, chosen))) return chosen;
    file
      .prepare("insert or replace into blocks (block, owner, work_dir) values (?, ?, ?)")
      .run(chosen.block, chosen.owner, chosen.workDir);
    file.exec("commit");
    return chosen;
  } finally {
    // Closing rolls back an uncommitted transaction.
    file.close();
  }
}

const isSameRow = (row: BlockRow, other: BlockRow): boolean =>
  row.block === other.block && row.owner === other.owner && row.workDir === other.workDir;

const SQLITE_FULL = 13;

/**
 * Whether `saveBlock` failed because its file system has no space left. SQLite has one error for each file that it
 * cannot make.
 */
export function isRegistryFull(path: string, error: unknown): boolean {
  if (isFull(error)) return true;
  if (codeOf(error) !== "ERR_SQLITE_ERROR" || !(error instanceof Error) || !("errcode" in error)) return false;
  if (error.errcode === SQLITE_FULL) return true;
  const { bavail, files, ffree } = statfsSync(dirname(path));
  return bavail === 0 || (files > 0 && ffree === 0);
}
