import { readdir, readFile, realpath, chmod, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createFolder } from "../../../folder.ts";
import { problem } from "../problems.ts";

/** The lock of a data directory, held by this process alone. */
export type DataDirLock = {
  /** Absolute, without symbolic links. */
  readonly dataDir: string;
  readonly release: () => void;
};

const LOCK_FILE = "server.lock";
const PID_FILE = "server.pid";

/**
 * Creates a missing data directory and locks it until the process ends, in any way. Rejects with `embedded.locked`
 * while another process holds it. A new or empty directory becomes private (0700); any other keeps its mode.
 *
 * The lock is that of an SQLite file, because Node has no API for the kernel's file locks. Unlike a pid file or a
 * socket file, it cannot be left behind, be taken by two processes, or have too long a path.
 */
export async function lockDataDir(path: string, kind: Holder["kind"] = "server"): Promise<DataDirLock> {
  const dataDir = await makePrivate(resolve(path));
  const file = await openLock(dataDir);
  try {
    file.exec("pragma journal_mode = off; begin exclusive");
  } catch (error) {
    file.close();
    const holder = await findLockHolder(dataDir);
    throw problem("embedded.locked", [holder ? ` (process ${holder.pid})` : "", dataDir], { cause: error });
  }
  await writeFile(join(dataDir, PID_FILE), kind === "server" ? `${process.pid}` : `${process.pid} ${kind}`, {
    mode: 0o600,
  });
  let held = true;
  return {
    dataDir,
    release: () => {
      if (held) file.close();
      held = false;
    },
  };
}

/** The holder of the lock: a server, or a command that stops the database at its end. */
export type Holder = { readonly pid: number; readonly kind: "server" | "command" };

/** The last process that took the lock; valid while the lock is held. */
export async function findLockHolder(dataDir: string): Promise<Holder | undefined> {
  const text = await readFile(join(dataDir, PID_FILE), "utf8").catch(() => "");
  const [, pid, command] = /^(\d+)( command)?$/.exec(text) ?? [];
  return pid === undefined ? undefined : { pid: Number(pid), kind: command === undefined ? "server" : "command" };
}

async function makePrivate(path: string): Promise<string> {
  try {
    const created = await createFolder(path, 0o700);
    const { mode, uid } = await stat(path);
    // The sticky bit marks a directory that many users share.
    const mayClose = uid === process.geteuid?.() && (mode & 0o1000) === 0;
    if (!created && mayClose && (await readdir(path)).length === 0) await chmod(path, 0o700);
    return await realpath(path);
  } catch (error) {
    throw notWritable(path, error);
  }
}

async function openLock(dataDir: string): Promise<DatabaseSync> {
  const path = join(dataDir, LOCK_FILE);
  try {
    // SQLite would make it readable for all users, and a user who can read a file can lock it.
    await writeFile(path, "", { flag: "a", mode: 0o600 });
    return new DatabaseSync(path);
  } catch (error) {
    throw notWritable(dataDir, error);
  }
}

function notWritable(path: string, error: unknown): Error {
  return problem("embedded.not_writable", [path, error instanceof Error ? error.message : String(error)], {
    cause: error,
  });
}
