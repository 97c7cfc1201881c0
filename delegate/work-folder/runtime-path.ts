/**
 * The path of a delegate's runtime folder (runtime-folder.ts). Every user of the machine can see the folder's name
 * while it is there, and take the name after the delegate has removed the folder. So the second half of the name of a
 * new folder is random, and nothing shows it before the folder is there. The first half is made of the identity:
 * without a record, also on a full disk, a delegate finds its folder again, and one on a copy of the work folder finds
 * the other's.
 */
import { createHash, randomBytes } from "node:crypto";
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
import { basename, dirname, join } from "node:path";
import { getSystemErrorMessage } from "node:util";
import { codeOf, isFull, textOf } from "../fault.ts";

export type RuntimePath = {
  /**
   * Where the identity is locked: the folder in memory, or one in /tmp while that cannot be made. Undefined: nowhere.
   */
  readonly lock: string | undefined;
  /**
   * The folder in memory, for secrets. It is not `lock`'s if it cannot be made now, and then nothing may show its name.
   * Undefined: the machine has no file system in memory that this user may use.
   */
  readonly memory: string | undefined;
};

/** Why a folder cannot be used. Only a `closed` parent is one that this user cannot use later, either. */
export type FolderProblem = { readonly kind: "closed" | "full" | "failed"; readonly why: string };

/** Parents of runtime folders; the first usable one is taken. */
const MEMORY_PARENTS = ["/dev/shm", "/run"] as const;
/**
 * Parent of the identity's lock while no folder in memory can be made. Steps without a user of their own have another
 * /tmp.
 */
const DISK_PARENT = "/tmp";
/** Parents that `removeUnusedFolders` searches. */
export const RUNTIME_PARENTS = [...MEMORY_PARENTS, DISK_PARENT] as const;
const NAME = /^railhead-[0-9a-f]{32}$/;
/** Bytes of each half of a name. */
const NAME_BYTES = 8;
const CREATE_ATTEMPTS = 5;

const TMPFS = 0x0102_1994;
const RAMFS = 0x8584_58f6;
const WRITABLE_FOR_OTHERS = 0o022;

/** What decides between the runtime folders that exist. */
type FolderChoice = {
  /** Names of the folders of the tasks that an earlier start left. */
  readonly tasks?: readonly string[];
  /** Folders that could not be locked; no new one is made beside them. */
  readonly unusable?: ReadonlySet<string>;
};

/**
 * Returns the runtime folder of this identity. In memory: the one that holds a task, else one that exists, else a new
 * one.
 */
export function createRuntimeFolder(
  identity: string,
  isRoot: boolean,
  { tasks = [], unusable = new Set() }: FolderChoice = {},
): RuntimePath {
  const newPath = (parent: string): string =>
    join(parent, `${namePrefix(identity)}${randomBytes(NAME_BYTES).toString("hex")}`);
  const existing = listRuntimeFolders(identity).filter((path) => !unusable.has(path));
  const inMemory = existing.filter((path) => dirname(path) !== DISK_PARENT && isInMemory(path));
  const path = inMemory.find((path) => holdsTask(path, tasks)) ?? inMemory[0];
  if (path !== undefined && !createFolder(path, isRoot)) return { lock: path, memory: path };
  const parents = new Set(Array.from(unusable, (path) => dirname(path)));
  let later: string | undefined;
  for (const parent of MEMORY_PARENTS.filter(isInMemory)) {
    const path = newPath(parent);
    const problem = parents.has(parent) ? "unusable" : createFolder(path, isRoot)?.kind;
    if (problem === undefined) return { lock: path, memory: path };
    if (problem !== "closed") later ??= newPath(parent);
  }
  const lock = existing.find((path) => dirname(path) === DISK_PARENT) ?? newPath(DISK_PARENT);
  const isUsable = !parents.has(DISK_PARENT) && createFolder(lock, isRoot) === undefined;
  return { lock: isUsable ? lock : undefined, memory: later };
}

/** The existing runtime folders of this identity that belong to this user. */
export const listRuntimeFolders = (identity: string): readonly string[] =>
  RUNTIME_PARENTS.flatMap(listFolders).filter(
    (path) => basename(path).startsWith(namePrefix(identity)) && isOwnFolder(path),
  );

/** Paths in the parent that have the name of a runtime folder, also of other users. */
export function listFolders(parent: string): readonly string[] {
  try {
    const names = readdirSync(parent).filter((name) => NAME.test(name));
    return names.map((name) => join(parent, name));
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "EACCES") return [];
    throw error;
  }
}

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
      withOwnFolder(path, (at) => {
        checkIsOwn(statSync(at), describeForeign);
        chmodSync(at, isRoot ? 0o711 : 0o700);
      });
      return undefined;
    } catch (error) {
      if (codeOf(error) !== "ENOENT" || attempt === CREATE_ATTEMPTS)
        return { kind: kindOf(error), why: messageOf(error) };
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
  return ["EACCES", "EPERM", "EROFS"].includes(codeOf(error) ?? "") ? "closed" : "failed";
}

/** Without the path. */
const messageOf = (error: unknown): string =>
  error instanceof Error && "errno" in error && typeof error.errno === "number"
    ? getSystemErrorMessage(error.errno)
    : textOf(error);

/** The part of the names of all folders of the identity. */
const namePrefix = (identity: string): string =>
  `railhead-${createHash("sha256")
    .update(`secrets of ${identity}`)
    .digest("hex")
    .slice(0, 2 * NAME_BYTES)}`;

function isInMemory(folder: string): boolean {
  try {
    return [TMPFS, RAMFS].includes(statfsSync(folder).type);
  } catch {
    return false;
  }
}

/**
 * Calls the function with a path that leads to this folder also if another user takes the folder's own path meanwhile.
 * @throws the system's error, or an error if it is no folder of this user
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

function checkIsOwn(stat: Stats, describe = describeOwner): void {
  const why = describe(stat);
  if (why !== undefined) throw new Error(why);
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
