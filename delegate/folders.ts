/**
 * The folders of tasks, `tasks/<task>.<epoch>`: one is there from before the
 * task's start until the server has acknowledged its end, and it is the promise
 * that a task never starts twice. It is made ready elsewhere and moved there
 * complete; moving fails where one is already.
 *
 * A folder whose task has left nothing in it serves again. Not for tidiness:
 * ext4 looks at every inode deleted in the last minutes before it takes a new
 * one, and with a hundred steps a second making and deleting six files each,
 * that came to several milliseconds per step.
 */
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from "node:fs";
import { chmod, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "./fault.ts";
import { journalHead, type Meta, paths } from "./journal.ts";
import type { WorkDir } from "./work-dir.ts";

/** Who the step's own part belongs to; undefined when it is the delegate's own user. */
export type Owner = { readonly uid: number; readonly gid: number } | undefined;

/** Open for the supervisor, whose user could not open them; to be closed by whoever asked. */
export type Descriptors = { readonly journal: number; readonly output: number };
export type Ready = { readonly folder: string; readonly descriptors: Descriptors };

export type Found = { readonly folder: string; readonly task: string; readonly epoch: number };

export type Folders = {
  /**
   * Synchronous, since a step waits for it.
   * @throws the system's error; ENOTEMPTY or EEXIST when the task was started before
   */
  readonly create: (meta: Meta, script: string, owner: Owner) => Ready;
  readonly scan: () => readonly Found[];
  /** The folder is gone from `tasks/` at once; its content follows, however much it is. `clean`: no process of the task is left. */
  readonly discard: (folder: string, clean: boolean) => Promise<void>;
  /** Removes what is in nobody's use. Called once at the start. */
  readonly clear: () => Promise<void>;
};

export const keyOf = (lease: { readonly task: string; readonly epoch: number }): string =>
  `${lease.task}.${lease.epoch}`;

const NAME = /^([A-Za-z0-9_-]{22})\.([1-9][0-9]{0,15})$/;
const MAX_SPARE = 64;
const ALWAYS = ["journal", "script.sh", "output", "work", "tmp"];
const REUSABLE = new Set([...ALWAYS, "outputs", "masked", "masked-to"]);

export function makeFolders({ tasks, spare: aside }: WorkDir): Folders {
  const spare: string[] = [];
  const fresh = (): string => join(aside, randomBytes(9).toString("base64url"));

  return {
    create: (meta, script, owner) => {
      const prepared = spare.pop() ?? emptyFolder(fresh());
      let descriptors: Descriptors | undefined;
      try {
        descriptors = fill(prepared, meta, script, owner);
        const folder = join(tasks, keyOf(meta));
        renameSync(prepared, folder);
        return { folder, descriptors };
      } catch (error) {
        if (descriptors) closeDescriptors(descriptors);
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
    discard: async (folder, clean) => {
      const moved = fresh();
      try {
        renameSync(folder, moved);
      } catch (error) {
        if (codeOf(error) === "ENOENT") return;
        throw error;
      }
      if (clean && spare.length < MAX_SPARE && wipe(moved)) spare.push(moved);
      else await remove(moved);
    },
    clear: async () => {
      for (const name of await readdir(aside)) if (!spare.includes(join(aside, name))) await remove(join(aside, name));
    },
  };
}

export function closeDescriptors({ journal, output }: Descriptors): void {
  closeSync(journal);
  closeSync(output);
}

function emptyFolder(folder: string): string {
  mkdirSync(folder, { mode: 0o700 });
  mkdirSync(paths(folder).work);
  mkdirSync(paths(folder).tmp);
  return folder;
}

/** The step's group may pass through the folder and read the script; the step's own are work, tmp and outputs. */
function fill(folder: string, meta: Meta, script: string, owner: Owner): Descriptors {
  const at = paths(folder);
  const text = openFile(at.script, owner ? 0o640 : 0o600);
  try {
    writeAll(text, script);
  } finally {
    closeSync(text);
  }
  const own = [at.work, at.tmp];
  if (meta.outputs.length > 0 || meta.remote) {
    closeSync(openFile(at.outputs, 0o600));
    own.push(at.outputs);
  }
  for (const path of own) {
    if (owner) chownSync(path, owner.uid, owner.gid);
    // A step that used the folder before may have opened it to others.
    chmodSync(path, path === at.outputs ? 0o600 : 0o700);
  }
  if (owner) for (const path of [at.script, folder]) chownSync(path, 0, owner.gid);
  chmodSync(folder, owner ? 0o710 : 0o700);
  const journal = openFile(at.journal, 0o600);
  try {
    writeAll(journal, journalHead(meta));
    return { journal, output: openFile(at.output, 0o600) };
  } catch (error) {
    closeSync(journal);
    throw error;
  }
}

const openFile = (path: string, mode: number): number =>
  openSync(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW, mode);

function writeAll(fd: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done);
}

/** Empties the files; false when the folder holds anything else than an unused one. */
function wipe(folder: string): boolean {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    const usual = entries.every((entry) => {
      if (entry.name === "work" || entry.name === "tmp")
        return entry.isDirectory() && readdirSync(join(folder, entry.name)).length === 0;
      return REUSABLE.has(entry.name) && entry.isFile() && statSync(join(folder, entry.name)).nlink === 1;
    });
    const names = new Set(entries.map(({ name }) => name));
    if (!usual || !ALWAYS.every((name) => names.has(name))) return false;
    for (const { name } of entries.filter((entry) => entry.isFile())) truncateSync(join(folder, name));
    return true;
  } catch {
    return false;
  }
}

async function remove(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch (error) {
    if (codeOf(error) !== "EACCES" && codeOf(error) !== "EPERM") throw error;
    // Package caches make their folders read-only; the owner may open them again.
    await unlock(path);
    await rm(path, { recursive: true, force: true });
  }
}

async function unlock(folder: string): Promise<void> {
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true }))
    if (entry.isDirectory()) await unlock(join(folder, entry.name));
}
