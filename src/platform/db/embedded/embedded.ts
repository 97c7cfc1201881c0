/**
 * The embedded PostgreSQL: a child process, reached over a Unix socket that only its own user (and root) can open,
 * with a password.
 *
 * 1. Find its location and user (folders, account). 2. Check that the cluster can be run (cluster), before any change.
 * 3. Stop leftovers of an earlier server (orphans). 4. Stage the programs (binaries) and create a missing cluster. 5.
 * Start it, and restart it after an unexpected end (supervise).
 */
import type { ClientConfig } from "pg";
import type { DbLog } from "../db.ts";
import { findBinaries, stageBinaries, type Binaries } from "./files/binaries.ts";
import { clusterVersion, createCluster, ensurePassword, ROLE } from "./cluster.ts";
import { requireRoom, ROOM_TO_CREATE, ROOM_TO_START } from "./files/disk.ts";
import type { DataDirLock } from "./files/lock.ts";
import { terminateOrphans } from "./process/orphans.ts";
import { chooseDatabaseFolders, type DatabaseFolders } from "./files/folders.ts";
import type { Settings } from "./process/settings.ts";
import { problem } from "./problems.ts";
import { createSocketDir, PORT } from "./files/socket-dir.ts";
import { supervise, type Supervisor } from "./process/supervise.ts";

export type EmbeddedOptions = {
  /** The locked data directory. */
  readonly lock: DataDirLock;
  readonly log: DbLog;
  /** Called after the database has ended unexpectedly and is back. */
  readonly onRestart?: () => void;
  /** Additional PostgreSQL settings; for tests. */
  readonly settings?: Settings;
  /** Location of a database whose user cannot reach the data directory; for tests. */
  readonly elsewhere?: string;
};

export type Embedded = {
  /** For `openDb`: host is the folder of the socket. */
  readonly connection: ClientConfig & { readonly host: string; readonly password: string };
  /** The folder that contains everything of the database. */
  readonly location: string;
  /** Name and id of the operating system's user that runs it. */
  readonly account: { readonly name: string; readonly uid: number };
  /** The process id of the running postmaster; undefined while it restarts. */
  readonly pid: () => number | undefined;
  /** Stops the database cleanly. The caller still holds the lock of the data directory. */
  readonly stop: () => Promise<void>;
};

/**
 * Starts the database of a data directory and keeps it running. Rejects with a Problem `embedded.*` that says what to
 * do.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const { lock, log } = options;
  const binaries = await findBinaries();
  const folders = await chooseDatabaseFolders(lock.dataDir, log, options.elsewhere);
  const version = await requireSameVersion(folders, binaries);
  await terminateOrphans(folders, log);
  await requireRoom(
    folders.root,
    version === undefined ? ROOM_TO_CREATE : ROOM_TO_START,
    version === undefined ? "be made" : "start",
  );
  const programs = await stageBinaries(binaries, folders.bin, folders.account);
  if (version === undefined) await createCluster(folders, programs, log);
  const password = await ensurePassword(folders, programs, log);
  const socketDir = await createSocketDir(folders.run, folders.account);
  const launch = { folders, programs, socketDir: socketDir.path, settings: options.settings ?? {}, log };
  let supervisor: Supervisor;
  try {
    supervisor = await supervise(launch, options.onRestart ?? (() => {}));
  } catch (error) {
    await socketDir.remove();
    throw error;
  }
  return {
    connection: { host: socketDir.path, port: PORT, user: ROLE, password, database: ROLE, ssl: false },
    location: folders.root,
    account: { name: folders.account.name, uid: folders.account.uid },
    pid: supervisor.pid,
    stop: async () => {
      await supervisor.stop();
      await socketDir.remove();
    },
  };
}

/** The version of an existing cluster; undefined without one. Rejects if this version cannot run it. */
async function requireSameVersion(folders: DatabaseFolders, { major }: Binaries): Promise<string | undefined> {
  const version = await clusterVersion(folders.cluster);
  if (version === undefined || version === major) return version;
  throw problem("embedded.other_version", [folders.cluster, version, major]);
}
