import { readFile, rm, rmdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { DbLog } from "../../db.ts";
import { terminateProcess } from "./postmaster.ts";
import type { DatabaseFolders } from "../files/folders.ts";
import { postgresIn, sendSignal } from "./processes.ts";
import { problem } from "../problems.ts";
import { SHORT_PREFIX, SOCKET } from "../files/socket-dir.ts";

/** Ten times the duration of a shutdown on a busy machine. */
const GONE_WITHIN = 5_000;

/**
 * Stops everything that an earlier server left running in the cluster, and removes the files that would keep
 * PostgreSQL from starting. The caller holds the lock of the data directory, so no other process uses it.
 *
 * An orphaned postmaster is shut down cleanly. Backends of a killed postmaster are killed: a busy one survives and
 * holds the shared memory, and its transaction can no longer commit.
 */
export async function terminateOrphans(folders: DatabaseFolders, log: DbLog): Promise<void> {
  const { pid, socketDir } = await readPidFile(folders.cluster);
  if (pid !== undefined && (await postgresIn(folders.cluster)).includes(pid)) {
    log.warn({ databasePid: pid }, "a database without its server is still running; stopping it");
    await terminateProcess(pid, (milliseconds) =>
      gone(async () => !(await postgresIn(folders.cluster)).includes(pid), milliseconds),
    );
  }
  for (const survivor of await postgresIn(folders.cluster)) {
    log.warn({ databasePid: survivor }, "ending a database process that survived its parent");
    sendSignal(survivor, "SIGKILL");
  }
  if (!(await gone(async () => (await postgresIn(folders.cluster)).length === 0, GONE_WITHIN))) {
    throw problem("embedded.still_running", [(await postgresIn(folders.cluster)).join(", "), folders.cluster]);
  }
  // No process is left, so these files are stale. PostgreSQL would trust them when another process of the same user
  // gets their pid.
  await rm(join(folders.cluster, "postmaster.pid"), { force: true });
  for (const folder of new Set([folders.run, socketDir ?? folders.run])) await removeSocket(folder, folders);
}

/** Line 1 is the pid, line 5 the folder of the socket. */
async function readPidFile(
  cluster: string,
): Promise<{ readonly pid: number | undefined; readonly socketDir: string | undefined }> {
  const lines = (await readFile(join(cluster, "postmaster.pid"), "utf8").catch(() => "")).split("\n");
  const pid = Number(lines[0]);
  return { pid: Number.isSafeInteger(pid) && pid > 1 ? pid : undefined, socketDir: lines[4]?.trim() || undefined };
}

/** Removes only in Railhead's folder: PostgreSQL writes the pid file, and this process may be root. */
async function removeSocket(folder: string, folders: DatabaseFolders): Promise<void> {
  const isShort = basename(folder).startsWith(SHORT_PREFIX);
  if (folder !== folders.run && !isShort) return;
  await rm(join(folder, SOCKET), { force: true });
  await rm(join(folder, `${SOCKET}.lock`), { force: true });
  if (isShort) await rmdir(folder).catch(() => {}); // not empty or gone: no harm
}

async function gone(isGone: () => Promise<boolean>, within: number): Promise<boolean> {
  for (let waited = 0; waited < within; waited += 10) {
    if (await isGone()) return true;
    await pause(10);
  }
  return isGone();
}
