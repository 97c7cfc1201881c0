/**
 * The path of a delegate's runtime folder (runtime-folder.ts). Every user of the machine can see the folder's name while it
 * is there, and take the name after the delegate has removed the folder. So an identity has many names, which only its
 * delegates can compute: another user can take those that were in use, and not guess the next one. The names need no
 * record, so that a delegate finds its folder again on a full disk, too, and a copy with another identity never does.
 */
import { createHash } from "node:crypto";
import { chmodSync, lstatSync, mkdirSync, readdirSync, type Stats, statfsSync } from "node:fs";
import { join } from "node:path";
import { codeOf, textOf } from "../fault.ts";

/** `inMemory`: in a file system in memory, so that secrets may lie there. */
export type RuntimePath = { readonly path: string; readonly inMemory: boolean };

/** Receives each path that could not be used, with the reason. */
export type OnUnusable = (path: string, why: string) => void;

/** Parents of runtime folders; the first usable one is taken. */
const MEMORY_PARENTS = ["/dev/shm", "/run"] as const;
/** Parent of the identity's lock where no file system in memory exists. Steps without a user of their own have another /tmp. */
const DISK_PARENT = "/tmp";
/** Parents that `removeUnusedFolders` searches. */
export const RUNTIME_PARENTS = [...MEMORY_PARENTS, DISK_PARENT] as const;
/** Names of an identity. Another user sees a further one at most with each start of the delegate. */
const NAMES = 64;
const CREATE_ATTEMPTS = 5;

const TMPFS = 0x0102_1994;
const RAMFS = 0x8584_58f6;
const WRITABLE_FOR_OTHERS = 0o022;

/**
 * Returns the runtime folder of this identity. In memory: the one that holds a task, else one that exists, else a new one.
 * Without memory: a folder in /tmp. Undefined: no such folder can be made.
 * @param tasks names of the folders of the tasks that an earlier start left
 */
export function createRuntimeFolder(
  identity: string,
  isRoot: boolean,
  tasks: readonly string[] = [],
  onUnusable: OnUnusable = () => {},
): RuntimePath | undefined {
  const inMemory = listRuntimeFolders(identity).filter(isInMemory);
  const existing = inMemory.find((path) => holdsTask(path, tasks)) ?? inMemory[0];
  if (existing !== undefined && createFolder(existing, isRoot) === undefined) return { path: existing, inMemory: true };
  const names = namesOf(identity);
  for (const parent of MEMORY_PARENTS) {
    const path = isInMemory(parent) ? createFirst(parent, names, isRoot, onUnusable) : undefined;
    if (path !== undefined) return { path, inMemory: true };
  }
  const path = createFirst(DISK_PARENT, names, isRoot, onUnusable);
  return path === undefined ? undefined : { path, inMemory: false };
}

/** The existing runtime folders of this identity that belong to this user. */
export const listRuntimeFolders = (identity: string): readonly string[] => {
  const names = namesOf(identity);
  return RUNTIME_PARENTS.flatMap((parent) => names.map((name) => join(parent, name))).filter(isOwnFolder);
};

/** Whether the folder has a folder of one of these tasks. */
export function holdsTask(folder: string, tasks: readonly string[]): boolean {
  try {
    const names = new Set(readdirSync(folder));
    return tasks.some((task) => names.has(task));
  } catch {
    return false;
  }
}

/**
 * Creates the folder, or uses the existing one of this user. Returns why it cannot be used, or undefined.
 * Another delegate may remove an unused folder meanwhile (unused-folders.ts); it leaves a new one, which has no note.
 */
export function createFolder(path: string, isRoot: boolean): string | undefined {
  for (let attempt = 1; ; attempt++) {
    try {
      mkdirSync(path, { recursive: true, mode: 0o700 });
      const why = describeForeign(lstatSync(path));
      if (why !== undefined) return why;
      chmodSync(path, isRoot ? 0o711 : 0o700);
      return undefined;
    } catch (error) {
      if (codeOf(error) !== "ENOENT" || attempt === CREATE_ATTEMPTS) return textOf(error);
    }
  }
}

function createFirst(
  parent: string,
  names: readonly string[],
  isRoot: boolean,
  onUnusable: OnUnusable,
): string | undefined {
  for (const name of names) {
    const path = join(parent, name);
    const why = createFolder(path, isRoot);
    if (why === undefined) return path;
    onUnusable(path, why);
    // The parent is full or closed to this user: its other names cannot be used, either.
    if (!statOf(path)) return undefined;
  }
  return undefined;
}

const namesOf = (identity: string): readonly string[] =>
  Array.from({ length: NAMES }, (_, nth) => {
    const text = nth === 0 ? `secrets of ${identity}` : `secrets of ${identity}, ${nth}`;
    return `railhead-${createHash("sha256").update(text).digest("hex").slice(0, 32)}`;
  });

function isInMemory(folder: string): boolean {
  try {
    return [TMPFS, RAMFS].includes(statfsSync(folder).type);
  } catch {
    return false;
  }
}

/** Says why the entry is no folder of this user alone. */
function describeForeign(stat: Stats): string | undefined {
  if (!stat.isDirectory()) return `it is no folder, and belongs to the user ${stat.uid}`;
  if (stat.uid !== process.getuid?.()) return `it belongs to the user ${stat.uid}`;
  return (stat.mode & WRITABLE_FOR_OTHERS) === 0 ? undefined : "other users can write to it";
}

function isOwnFolder(path: string): boolean {
  const stat = statOf(path);
  return stat !== undefined && describeForeign(stat) === undefined;
}

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
