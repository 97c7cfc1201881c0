/**
 * The path of a delegate's runtime folder (runtime-folder.ts). Every user of the machine can see the folder's name while it
 * is there, and take the name after the delegate has removed the folder. So an identity has many names, which only its
 * delegates can compute: another user can take those that were in use, and not guess the next one, unless memory is full
 * at the start: then the folder in DISK_PARENT shows it. The names need no record, so that a delegate finds its folder
 * again on a full disk, too, and a copy with another identity never does.
 */
import { createHash } from "node:crypto";
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  type Stats,
  statfsSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { codeOf, isFull, textOf } from "../fault.ts";

export type RuntimePath = {
  /** Where the identity is locked: the folder in memory, or one in /tmp while that cannot be made. Undefined: nowhere. */
  readonly lock: string | undefined;
  /**
   * The folder in memory, for secrets. It is not `lock`'s if it cannot be made now: memory is full, or all names are taken.
   * Undefined: the machine has no file system in memory that this user may use.
   */
  readonly memory: string | undefined;
};

/** Why a folder cannot be used. Only a `closed` parent is one that this user cannot use later, either. */
export type FolderProblem = { readonly kind: "taken" | "closed" | "full" | "failed"; readonly why: string };

/** Receives each path that could not be used, with the reason. */
export type OnUnusable = (path: string, why: string) => void;

/** Parents of runtime folders; the first usable one is taken. */
const MEMORY_PARENTS = ["/dev/shm", "/run"] as const;
/** Parent of the identity's lock while no folder in memory can be made. Steps without a user of their own have another /tmp. */
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
 * @param tasks names of the folders of the tasks that an earlier start left
 */
export function createRuntimeFolder(
  identity: string,
  isRoot: boolean,
  tasks: readonly string[] = [],
  onUnusable: OnUnusable = () => {},
): RuntimePath {
  const inMemory = listRuntimeFolders(identity).filter(isInMemory);
  const existing = inMemory.find((path) => holdsTask(path, tasks)) ?? inMemory[0];
  if (existing !== undefined && !createFolder(existing, isRoot)) return { lock: existing, memory: existing };
  const names = runtimeNames(identity);
  let later: string | undefined;
  for (const parent of MEMORY_PARENTS) {
    const { usable, other } = isInMemory(parent) ? createFirst(parent, names, isRoot, onUnusable) : {};
    if (usable !== undefined) return { lock: usable, memory: usable };
    later ??= other;
  }
  return { lock: createFirst(DISK_PARENT, names, isRoot, onUnusable).usable, memory: later };
}

/** The existing runtime folders of this identity that belong to this user. */
export const listRuntimeFolders = (identity: string): readonly string[] => {
  const names = runtimeNames(identity);
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
export function createFolder(path: string, isRoot: boolean): FolderProblem | undefined {
  for (let attempt = 1; ; attempt++) {
    try {
      makeFolder(path);
      return withOwnFolder(path, (at) => {
        const why = describeForeign(statSync(at));
        if (why !== undefined) return { kind: "taken", why };
        chmodSync(at, isRoot ? 0o711 : 0o700);
        return undefined;
      });
    } catch (error) {
      if (error instanceof ForeignFolderError) return { kind: "taken", why: error.message };
      if (codeOf(error) !== "ENOENT" || attempt === CREATE_ATTEMPTS) return { kind: kindOf(error), why: textOf(error) };
    }
  }
}

/** Never follows a link of another user, whose target could decide the error. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
}

function kindOf(error: unknown): FolderProblem["kind"] {
  if (isFull(error)) return "full";
  const code = codeOf(error) ?? "";
  if (["EACCES", "EPERM", "EROFS"].includes(code)) return "closed";
  // Another user has created and removed the name meanwhile.
  return code === "ENOENT" ? "taken" : "failed";
}

/** `usable`: made, or there. `other`: what can be tried again later; neither if this user may not use the parent. */
type Candidate = { readonly usable?: string; readonly other?: string };

function createFirst(parent: string, names: readonly string[], isRoot: boolean, onUnusable: OnUnusable): Candidate {
  const paths = names.map((name) => join(parent, name));
  for (const path of paths) {
    const problem = createFolder(path, isRoot);
    if (!problem) return { usable: path };
    onUnusable(path, problem.why);
    // The other names of the parent cannot be made now, either.
    if (problem.kind !== "taken") return problem.kind === "closed" ? {} : { other: path };
  }
  return paths[0] === undefined ? {} : { other: paths[0] };
}

/** The names of the identity's folder. */
export const runtimeNames = (identity: string): readonly string[] =>
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

/** Another user has taken the path. */
class ForeignFolderError extends Error {}

/**
 * Calls the function with a path that leads to this folder also if another user takes the folder's own path meanwhile.
 * @throws ForeignFolderError, or the system's error
 */
export function withOwnFolder<T>(path: string, use: (at: string) => T): T {
  checkIsOwn(lstatSync(path));
  const fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    checkIsOwn(fstatSync(fd));
    return use(`/proc/self/fd/${fd}`);
  } finally {
    closeSync(fd);
  }
}

function checkIsOwn(stat: Stats): void {
  const why = describeOwner(stat);
  if (why !== undefined) throw new ForeignFolderError(why);
}

/** Says why the entry is no folder of this user: the effective one, since a launcher of root has another real user. */
function describeOwner(stat: Stats): string | undefined {
  if (!stat.isDirectory()) return `it is no folder, and belongs to the user ${stat.uid}`;
  return stat.uid === process.geteuid?.() ? undefined : `it belongs to the user ${stat.uid}`;
}

/** Says why the entry is no folder of this user alone. */
const describeForeign = (stat: Stats): string | undefined =>
  describeOwner(stat) ?? ((stat.mode & WRITABLE_FOR_OTHERS) === 0 ? undefined : "other users can write to it");

/** Whether the folder is there, belongs to this user, and no other user can write to it. */
export function isOwnFolder(path: string): boolean {
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
