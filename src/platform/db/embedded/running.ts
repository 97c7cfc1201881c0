import { readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { ClientConfig } from "pg";
import { readPassword, ROLE } from "./cluster.ts";
import { findDatabaseFolders } from "./files/folders.ts";
import { postgresIn } from "./process/processes.ts";
import { PORT } from "./files/socket-dir.ts";

/** Connection to the database that a server runs in a data directory; undefined when none is running. */
export async function runningConnection(dataDir: string): Promise<ClientConfig | undefined> {
  const folders = await realpath(dataDir).then(findDatabaseFolders, () => undefined);
  if (!folders) return undefined;
  const lines = (await readFile(join(folders.cluster, "postmaster.pid"), "utf8").catch(() => "")).split("\n");
  const [pid, socketDir, password] = [Number(lines[0]), lines[4]?.trim(), await readPassword(folders)];
  // After a kill -9, the file names a process that no longer exists.
  if (!socketDir || !password || !(await postgresIn(folders.cluster)).includes(pid)) return undefined;
  return { host: socketDir, port: PORT, user: ROLE, password, database: ROLE, ssl: false };
}
