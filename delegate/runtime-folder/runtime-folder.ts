/**
 * The runtime folder of this delegate: scripts, output variables and secrets of running steps.
 * It lies in a file system in memory, so that no disk holds them and a restart of the
 * machine removes them. It outlives the delegate, as its steps do.
 *   incoming/<task>.<epoch>/      secret files of a task whose `run` message has not arrived yet
 *   <task>.<epoch>/script.sh      the script; `outputs`: its output variables
 *   <task>.<epoch>/masks          values to mask in the output, for a delegate that starts later
 *   <task>.<epoch>/files/         the step's secret files; removed when its processes have ended
 *   removed-<random>/             folders of ended tasks that are being removed
 *   homes/<uid>                   link to the home folder of a step, for the user database
 *   fifos-…/                      pipes of a launcher, without a task yet
 *   work-folder                   names the work folder (note.ts)
 *   lock                          lock of the delegate's identity (claim.ts)
 * Only a step's own group can enter its part, and only its own user can read the files.
 */
import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { codeOf } from "../fault.ts";
import { keyOf, type Owner } from "../task-folder/task-folders.ts";
import { type IncomingSecrets, createIncomingSecrets } from "./incoming-secrets.ts";
import { LOCK_FILE } from "../work-folder/lock.ts";
import { removeTree } from "../work-folder/remove-tree.ts";
import { holdsTask, isOwnFolder } from "../work-folder/runtime-path.ts";
import type { EarlierTasks } from "../work-folder/secrets-folder.ts";
import { NOTE } from "./note.ts";
import type { Lease } from "../output/shipper.ts";
import {
  installSecretFiles,
  prepareTaskFolder,
  readMasks,
  removeKnownFiles,
  rmdirIfThere,
  type SecretFile,
  secretFolderIn,
  type StepFiles,
  stepFilesIn,
  type StepSecrets,
  type TaskSecrets,
  type TaskScript,
  writeSecretFile,
} from "./task-files.ts";

/** Access to the runtime folder. Tasks of an earlier delegate may lie in another folder; their paths lead there. */
export type RuntimeFolder = Pick<
  IncomingSecrets,
  "receive" | "findMissing" | "receiveError" | "valueOf" | "discard" | "discardAll"
> & {
  readonly path: string;
  /** The task's folder. */
  readonly pathOfTask: (lease: Lease) => string;
  /** Paths in a task's folder. `outputs` exists if the step has output variables. */
  readonly filesOf: (lease: Lease) => StepFiles;
  /** Makes the task's folder with its script. @throws the system's error */
  readonly prepare: (lease: Lease, task: TaskScript) => void;
  /** The home folder of the user in the user database: a link. */
  readonly homeOf: (uid: number) => string;
  /** Points the home link of the user to the folder of its current task. @throws the system's error */
  readonly linkHome: (uid: number, folder: string) => void;
  readonly unlinkHome: (uid: number) => void;
  /** @throws the system's error */
  readonly installSecrets: (lease: Lease, secrets: TaskSecrets, owner: Owner) => StepSecrets;
  /** Writes another secret file for a task after `installSecrets`; returns its path. @throws the system's error */
  readonly writeSecretFile: (lease: Lease, owner: Owner, file: SecretFile) => string;
  /** Undefined if the file with the values is missing. */
  readonly readMasksOf: (lease: Lease) => readonly Buffer[] | undefined;
  /** @throws the system's error; it can be tried again */
  readonly removeSecretFiles: (lease: Lease) => Promise<void>;
  /**
   * The task's folder is gone from its place at once, its content follows. @throws the system's error; it can be tried
   * again
   */
  readonly remove: (lease: Lease) => Promise<void>;
  /** Removes the files of all tasks but these, and secrets that an earlier delegate received and did not use. */
  readonly removeOtherTasks: (held: readonly Lease[]) => Promise<void>;
  /** Removes everything that no task needs. */
  readonly close: () => void;
};

/**
 * @param path while the folder cannot be made (secrets-folder.ts), no task is prepared, and another user's entry may be
 * there
 * @param earlier tasks whose files are in another folder
 */
export function openRuntimeFolder(
  path: string,
  earlier: EarlierTasks = { folder: path, tasks: new Set() },
): RuntimeFolder {
  const incoming = createIncomingSecrets(join(path, "incoming"));
  const taskPath = (lease: Lease): string =>
    join(earlier.tasks.has(keyOf(lease)) ? earlier.folder : path, keyOf(lease));
  const homeOf = (uid: number): string => join(path, HOMES, String(uid));
  const filesOf = (lease: Lease): StepFiles => stepFilesIn(taskPath(lease));
  /** Folders of ended tasks that are being removed: their present paths. */
  const discarded = new Map<string, string>();
  return {
    ...incoming,
    path,
    pathOfTask: taskPath,
    filesOf,
    homeOf,
    linkHome: (uid, folder) => {
      mkdirSync(join(path, HOMES), { recursive: true, mode: 0o711 });
      rmSync(homeOf(uid), { force: true });
      symlinkSync(folder, homeOf(uid));
    },
    unlinkHome: (uid) => {
      if (isOwnFolder(path)) rmSync(homeOf(uid), { force: true });
    },
    prepare: (lease, task) => prepareTaskFolder(taskPath(lease), task),
    installSecrets: (lease, secrets, owner) =>
      installSecretFiles(taskPath(lease), owner, {
        secrets,
        valueOf: (nth) => incoming.valueOf(lease, nth),
        fileOf: (nth) => incoming.fileOf(lease, nth),
      }),
    writeSecretFile: (lease, owner, file) => writeSecretFile(taskPath(lease), owner, file),
    readMasksOf: (lease) => readMasks(taskPath(lease)),
    removeSecretFiles: (lease) => removeAll(secretFolderIn(taskPath(lease))),
    remove: async (lease) => {
      const key = keyOf(lease);
      if (!discarded.has(key) && removeKnownFiles(taskPath(lease))) return;
      const moved = discarded.get(key) ?? moveAside(taskPath(lease));
      if (moved === undefined) return;
      discarded.set(key, moved);
      await removeAll(moved);
      discarded.delete(key);
    },
    removeOtherTasks: async (held) => {
      const kept = new Set([...held.map(keyOf), HOMES, NOTE, LOCK_FILE]);
      const folders = isOwnFolder(path) ? [path] : [];
      if (holdsTask(earlier.folder, [...earlier.tasks])) folders.push(earlier.folder);
      // At once, before a new task or secret takes one of these paths.
      return removeEach(folders.flatMap((folder) => moveOthersAside(folder, kept)));
    },
    close: () => {
      incoming.discardAll();
      if (!isOwnFolder(path)) return;
      try {
        rmSync(join(path, "incoming"), { recursive: true, force: true });
        rmdirIfThere(join(path, HOMES));
      } catch {
        // Running steps still need their home links.
      }
    },
  };
}

function moveOthersAside(folder: string, kept: ReadonlySet<string>): readonly string[] {
  const unused = readdirSync(folder).filter((name) => !kept.has(name));
  return unused.flatMap((name) => moveAside(join(folder, name)) ?? []);
}

/** Returns the new path, in the same folder; undefined if there is nothing at the old one. */
function moveAside(from: string): string | undefined {
  const aside = join(dirname(from), `${REMOVED_PREFIX}${randomBytes(9).toString("base64url")}`);
  try {
    renameSync(from, aside);
    return aside;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

async function removeAll(path: string): Promise<void> {
  if (!(await removeTree(path))) throw new Error(`${path} holds more files than are removed at once`);
}

/** @throws the first error, after all others were tried */
async function removeEach(paths: readonly string[]): Promise<void> {
  let failure: { readonly error: unknown } | undefined;
  for (const path of paths)
    await removeAll(path).catch((error: unknown) => {
      failure ??= { error };
    });
  if (failure) throw failure.error;
}

const HOMES = "homes";
/** Folders that are being removed. */
const REMOVED_PREFIX = "removed-";
