import { readdir, readFile, realpath, chmod, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createFolder } from "../../../folder.ts";
import { problem } from "../problems.ts";

/** Proof that this process alone uses a data directory. */
export type DataDirLock = {
  /** Absolute, without symbolic links. */
  readonly dataDir: string;
  readonly release: () => void;
};

const LOCK_FILE = "server.lock";
const PID_FILE = "server.pid";

/**
 * Makes the data directory when it is missing and locks it until the process ends, however it ends.
 * Rejects with `embedded.locked` while another process holds it. A directory that is new or empty
 * becomes private (0700); one that already holds something else keeps the mode its owner gave it.
 *
 * The lock is that of an SQLite file: Node has no call of its own for the kernel's file locks, which
 * unlike a pid file or a socket file cannot be left behind, taken over by two at once, or be too long.
 */
export async function lockDataDir(path: string, as: Holder["kind"] = "server"): Promise<DataDirLock> {
  const dataDir = await makePrivate(resolve(path));
  const file = await openLock(dataDir);
  try {
    file.exec("pragma journal_mode = off; begin exclusive");
  } catch (error) {
    file.close();
    const holder = await holderOf(dataDir);
    throw problem("embedded.locked", [holder ? ` (process ${holder.pid})` : "", dataDir], { cause: error });
  }
  await writeFile(join(dataDir, PID_FILE), as === "server" ? `${process.pid}` : `${process.pid} ${as}`, {
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

/** Who holds the lock: a server, or a command that ends the database with itself. */
export type Holder = { readonly pid: number; readonly kind: "server" | "command" };

/** The last one that took the lock; to be asked while it is taken. */
export async function holderOf(dataDir: string): Promise<Holder | undefined> {
  const text = await readFile(join(dataDir, PID_FILE), "utf8").catch(() => "");
  const [, pid, command] = /^(\d+)( command)?$/.exec(text) ?? [];
  return pid === undefined ? undefined : { pid: Number(pid), kind: command === undefined ? "server" : "command" };
}

async function makePrivate(path: string): Promise<string> {
  try {
    const created = await createFolder(path, 0o700);
    const { mode, uid } = await stat(path);
    // The sticky bit marks a directory that many share.
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
    // SQLite would make it readable for everybody, and whoever may read a file may lock it.
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
