/**
 * The delegate's folder:
 *   identity   32 random bytes, base64url: the delegate's identity across restarts
 *   lock       locked by the running delegate (lock.ts)
 *   owner      where a server chose the folder: the data directory it belongs to (orphaned-folders.ts)
 *   known_hosts  keys of the hosts that steps have run on, unless the operator names a file
 *   tasks/     one folder per task, `<task>.<epoch>` (task-folders.ts)
 *   queues/    empty; launchers mount the file system of POSIX message queues there where the machine does not
 *   spare/     folders without a task: being created or removed
 */
import { createHash, randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { codeOf, isFull, textOf, startError } from "../fault.ts";
import { readRegularFile } from "../regular-file.ts";

/** Absolute paths of the work folder and its parts, without links. `prepareWorkDir` makes it. */
export type WorkDir = {
  readonly path: string;
  readonly tasks: string;
  readonly spare: string;
};

const IDENTITY = /^[A-Za-z0-9_-]{43}$/;

/** The work folder if --work-dir is not given. As root it is a path that other users can enter. */
export function defaultWorkDir(name: string, isRoot: boolean): string {
  const folder = name.replaceAll(/[^A-Za-z0-9._-]/g, "_").replace(/^\.+/, "_");
  return isRoot ? join("/var/lib/railhead-delegate", folder) : join(home(), ".railhead-delegate", folder);
}

function home(): string {
  try {
    return homedir();
  } catch {
    throw startError("this user has no home folder; choose a work folder with --work-dir");
  }
}

/**
 * Identifies the journals of the tasks. It changes when the machine restarts, because the last entries may be missing
 * then, and with the folder: a copy lacks the tasks that the original has received.
 */
export function journalsId(bootId: string, { tasks }: Pick<WorkDir, "tasks">): string {
  // A file system may give the inode of a removed folder to the next one.
  const { dev, ino, birthtimeNs } = statSync(tasks, { bigint: true });
  return createHash("sha256").update(`${bootId} ${dev} ${ino} ${birthtimeNs}`).digest("hex");
}

/**
 * Creates the folders, or uses existing ones.
 * @param open lets other users pass through the folder, but not list or read it
 * @throws Fault if the folders cannot be created or used
 */
export function prepareWorkDir(wanted: string, open: boolean): WorkDir {
  try {
    mkdirSync(resolve(wanted), { recursive: true, mode: open ? 0o711 : 0o700 });
    // Links are resolved once: later paths are compared with what the kernel reports.
    const path = realpathSync(resolve(wanted));
    const tasks = join(path, "tasks");
    const spare = join(path, "spare");
    if (statSync(path).uid !== process.getuid?.())
      throw startError(`the work folder ${path} belongs to another user; choose another with --work-dir`);
    chmodSync(path, open ? 0o711 : 0o700);
    for (const folder of [tasks, spare]) mkdirSync(folder, { recursive: true });
    chmodSync(tasks, open ? 0o711 : 0o700);
    chmodSync(spare, 0o700);
    return { path, tasks, spare };
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    const advice = isFull(error) ? "free some space, or choose another" : "choose another";
    throw startError(`the work folder ${wanted} cannot be used: ${textOf(error)}; ${advice} with --work-dir`);
  }
}

/**
 * Reads the identity from the folder; creates it if it is missing. A delegate holds the lock of the folder.
 * An empty file, which a power loss can leave, counts as missing if the folder has no tasks: only the identity that
 * took a task can report it.
 * @throws Fault if the file is damaged, or cannot be written on a full disk
 */
export function readOrCreateIdentity(workDir: WorkDir): string {
  const path = join(workDir.path, "identity");
  const temporary = join(workDir.path, `identity.${process.pid}`);
  const isEmpty = statSync(path, { throwIfNoEntry: false })?.size === 0 && readdirSync(workDir.tasks).length === 0;
  try {
    if (!isEmpty) return readIdentity(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
  try {
    rmSync(temporary, { force: true });
    writeFileSync(temporary, randomBytes(32).toString("base64url"), { mode: 0o600, flush: true, flag: "wx" });
    // A link is created atomically, and fails if another process has created the file meanwhile.
    if (isEmpty) renameSync(temporary, path);
    else linkSync(temporary, path);
    syncFolder(workDir.path);
  } catch (error) {
    if (isFull(error))
      throw startError(`the work folder ${workDir.path} has no space for its first file; free some space`);
    if (codeOf(error) !== "EEXIST") throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
  return readIdentity(path);
}

/** Writes the entries of a folder to the disk. */
function syncFolder(path: string): void {
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } catch (error) {
    // Some file systems sync no folders.
    if (codeOf(error) !== "EINVAL") throw error;
  } finally {
    closeSync(fd);
  }
}

/** Whether a delegate has created the folder. @throws the system's error */
export function hasIdentity(folder: string): boolean {
  return IDENTITY.test(readRegularFile(join(folder, "identity"))?.toString("utf8").trim() ?? "");
}

function readIdentity(path: string): string {
  // A missing file is reported as such: it is made.
  lstatSync(path);
  const text = readRegularFile(path)?.toString("utf8").trim() ?? "";
  if (!IDENTITY.test(text))
    throw startError(`${path} is damaged or cannot be read; delete it and the delegate registers as a new one`);
  return text;
}
