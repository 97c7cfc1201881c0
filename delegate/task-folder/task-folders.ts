/**
 * The folders of tasks, `tasks/<task>.<epoch>`. A folder exists from before the
 * task's start until the server has acknowledged its end, and prevents a second
 * start. It is prepared elsewhere and renamed; the rename fails if the folder
 * already exists.
 *
 * Files and folders are never reused for another task: a step can keep them open
 * or pass the descriptor to a later step, and would have access to that task.
 * What needs no disk lies in memory (runtime-folder.ts), which also keeps the number of new
 * inodes small: ext4 passes over every inode deleted in the last minutes when it looks for one.
 */
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { readdir, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "../fault.ts";
import { formatHead, type Meta } from "./journal.ts";
import { removeTree } from "../work-folder/remove-tree.ts";
import { paths } from "./paths.ts";
import type { WorkDir } from "../work-folder/work-dir.ts";

/** Owner of the step's own folders; undefined: the delegate's user. */
export type Owner = { readonly uid: number; readonly gid: number } | undefined;

/** The folder of a task, and the lease in its name. */
export type FoundTask = { readonly folder: string; readonly task: string; readonly epoch: number };

/** The task folders in a work folder, also those of earlier delegates. */
export type Folders = {
  /**
   * Answers the folder. Synchronous, since a step waits for it.
   * @throws the system's error; ENOTEMPTY or EEXIST when the task was started before
   */
  readonly create: (meta: Meta, owner: Owner) => string;
  readonly scan: () => readonly FoundTask[];
  /** Moves the folder out of `tasks/` at once, then removes its content. After an error it can be called again. */
  readonly discard: (folder: string) => Promise<void>;
  /** Removes folders without a task. Called once at the start. */
  readonly clear: () => Promise<void>;
};

/** The lease as a key of maps, and as the name of its folders. */
export const keyOf = (lease: { readonly task: string; readonly epoch: number }): string =>
  `${lease.task}.${lease.epoch}`;

const NAME = /^([A-Za-z0-9_-]{22})\.([1-9][0-9]{0,15})$/;

/** Whether this is the name of a task's folder, in the work folder or in memory. */
export const isTaskName = (name: string): boolean => NAME.test(name);

/** `spare` holds folders that are being created or removed. It has to be in the file system of `tasks`. */
export function createFolders({ tasks, spare: aside }: WorkDir): Folders {
  /** Current paths of discarded folders that are being removed. */
  const discarded = new Map<string, string>();
  const newPath = (): string => join(aside, randomBytes(9).toString("base64url"));

  return {
    create: (meta, owner) => {
      const prepared = newPath();
      try {
        createFiles(prepared, meta, owner);
        const folder = join(tasks, keyOf(meta));
        renameSync(prepared, folder);
        return folder;
      } catch (error) {
        rmSync(prepared, { recursive: true, force: true });
        throw error;
      }
    },
    scan: () =>
      readdirSync(tasks).flatMap((name) => {
        const [, task, epoch] = NAME.exec(name) ?? [];
        return task === undefined || epoch === undefined
          ? []
          : [{ folder: join(tasks, name), task, epoch: Number(epoch) }];
      }),
    discard: async (folder) => {
      const moved = discarded.get(folder) ?? newPath();
      try {
        if (!discarded.has(folder)) renameSync(folder, moved);
      } catch (error) {
        if (codeOf(error) === "ENOENT") return;
        throw error;
      }
      discarded.set(folder, moved);
      if (!(await removeKnownFiles(moved))) await removeAll(moved);
      discarded.delete(folder);
    },
    clear: async () => {
      const removed = await Promise.allSettled((await readdir(aside)).map((name) => removeAll(join(aside, name))));
      for (const one of removed) if (one.status === "rejected") throw one.reason;
    },
  };
}

async function removeAll(path: string): Promise<void> {
  if (!(await removeTree(path))) throw new Error(`${path} holds more files than are removed at once`);
}

/** The step's group may pass through the folder; the step's own are work and tmp. */
function createFiles(folder: string, meta: Meta, owner: Owner): void {
  const at = paths(folder);
  mkdirSync(folder, { mode: 0o700 });
  for (const own of [at.work, at.tmp]) {
    mkdirSync(own, { mode: 0o700 });
    if (owner) chownSync(own, owner.uid, owner.gid);
  }
  writeFileSync(at.prepared, formatHead(meta), { mode: 0o600, flag: "wx" });
  if (!owner) return;
  chownSync(folder, 0, owner.gid);
  chmodSync(folder, 0o710);
}

/**
 * Removes a folder with the usual files only; false if it contains others. The removal of a folder waits for the file
 * system, up to a millisecond each: meanwhile the next step starts.
 */
async function removeKnownFiles(folder: string): Promise<boolean> {
  const at = paths(folder);
  try {
    for (const file of [at.journal, at.prepared, at.end, at.output, at.masked, at.maskedTo])
      if (existsSync(file)) unlinkSync(file);
    await Promise.all([rmdir(at.work), rmdir(at.tmp)]);
    await rmdir(folder);
    return true;
  } catch {
    return false;
  }
}
