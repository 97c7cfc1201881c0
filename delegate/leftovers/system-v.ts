/** System V shared memory, message queues and semaphores that steps leave in the kernel. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { codeOf } from "../fault.ts";

/** The kernel's tables: the column of the id, and the option of ipcrm for it. */
const TABLES = [
  { table: "shm", column: "shmid", option: "-m" },
  { table: "msg", column: "msqid", option: "-q" },
  { table: "sem", column: "semid", option: "-s" },
] as const;
/** Ids for one ipcrm in the first and in the second round: a bad id makes the others of its program fail. */
const FIRST_BATCH = 500;
const SECOND_BATCH = 20;
/** Programs that one sweep starts in each round. The next sweep removes the rest. */
const MAX_PROGRAMS = 50;

/** `creator` cannot change; creator and owner can change the owner to any user. */
type Found = { readonly args: readonly string[]; readonly owner: number; readonly creator: number };

type Users = {
  /** The task of the user has ended, or the user is of steps and no task has it. */
  readonly hasEnded: (uid: number) => boolean;
  /** A user of steps of this work folder. */
  readonly isOurs: (uid: number) => boolean;
};

/**
 * Removes objects that ended users created, and objects that other programs gave to them. A running task can name any
 * user as the owner of its objects: they stay until the task has ended, and reserve no other user.
 * Returns the creators of the remaining objects. @throws if the kernel's tables have another format
 */
export async function removeSystemV({ hasEnded, isOurs }: Users): Promise<ReadonlySet<number>> {
  const find = (): readonly Found[] =>
    TABLES.flatMap(readTable).filter(
      ({ owner, creator }) => hasEnded(creator) || (hasEnded(owner) && !isOurs(creator)),
    );
  const first = find();
  if (first.length === 0) return new Set();
  await remove(first, FIRST_BATCH);
  await remove(find(), SECOND_BATCH);
  return new Set(find().flatMap(({ creator }) => (hasEnded(creator) ? [creator] : [])));
}

/** Ignores errors: the caller reads the tables again. */
async function remove(found: readonly Found[], size: number): Promise<void> {
  for (let at = 0; at < Math.min(found.length, size * MAX_PROGRAMS); at += size) {
    const args = found.slice(at, at + size).flatMap((one) => one.args);
    await promisify(execFile)("ipcrm", args, { env: { PATH: "/usr/bin:/bin" } }).catch(() => {});
  }
}

/** The kernel's tables have a line of names above their columns. */
function readTable({ table, column, option }: (typeof TABLES)[number]): readonly Found[] {
  let text: string;
  try {
    text = readFileSync(`/proc/sysvipc/${table}`, "latin1");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
  const [head = [], ...rows] = text.split("\n").map((line) => line.trim().split(/\s+/));
  const places = [column, "uid", "cuid"].map((name) => {
    const at = head.indexOf(name);
    if (at === -1) throw new Error(`/proc/sysvipc/${table} has no column ${name}`);
    return at;
  });
  return rows
    .filter(({ length }) => length > 1)
    .map((row) => {
      const [id = "", owner, creator] = places.map((at) => row[at]);
      return { args: [option, id], owner: Number(owner), creator: Number(creator) };
    });
}
