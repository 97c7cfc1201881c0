/** System V shared memory, message queues and semaphores that steps leave in the kernel. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { codeOf } from "../fault.ts";

/** Of the kernel's tables, the column of the id, and the option of ipcrm that takes it. */
const TABLES = [
  { table: "shm", column: "shmid", option: "-m" },
  { table: "msg", column: "msqid", option: "-q" },
  { table: "sem", column: "semid", option: "-s" },
] as const;
/** Removed by one program at most; and by one of the second round, should one id spoil the others of its program. */
const FIRST_BATCH = 500;
const SECOND_BATCH = 20;
/** Programs that are started at one look, in each of both rounds. What is left goes at the next look. */
const MAX_PROGRAMS = 50;

/** `creator` stays as it is; the owner may be changed to any user by the creator and by each owner. */
type Found = { readonly args: readonly string[]; readonly owner: number; readonly creator: number };

type Users = {
  /** Its task has ended, or it is a step's user that no task has. */
  readonly hasEnded: (uid: number) => boolean;
  /** A user of steps of this work folder. */
  readonly isOurs: (uid: number) => boolean;
};

/**
 * Removes what ended users have made, and what other programs of the machine have given to them. A task that still
 * runs can name any user as the owner of what it makes: that stays until the task has ended, and keeps no other user.
 * Answers the users of whose making something is still there. @throws when the kernel's tables have another form
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

/** What is there afterwards tells whether it has worked. */
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
