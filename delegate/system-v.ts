/** System V shared memory, message queues and semaphores that steps leave in the kernel. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { codeOf } from "./fault.ts";

/** Of the kernel's tables, the column of the id, and the option of ipcrm that takes it. */
const TABLES = [
  { table: "shm", column: "shmid", option: "-m" },
  { table: "msg", column: "msqid", option: "-q" },
  { table: "sem", column: "semid", option: "-s" },
] as const;
/** Removed by one program at most. */
const MANY = 500;

/** `users`: the owner, which every owner may change, and the one who made it. */
type Found = { readonly args: readonly string[]; readonly users: readonly number[] };

/** Answers the users of what could not be removed. @throws when the kernel's tables have another form */
export async function removeSystemV(isLeft: (uid: number) => boolean): Promise<readonly number[]> {
  const find = (): readonly Found[] => TABLES.flatMap(readTable).filter(({ users }) => users.some(isLeft));
  const first = find();
  if (first.length === 0) return [];
  for (let at = 0; at < first.length; at += MANY) await remove(first.slice(at, at + MANY));
  // One that fails keeps no other.
  for (const one of find()) await remove([one]);
  return find().flatMap(({ users }) => users);
}

/** What is there afterwards tells whether it has worked. */
async function remove(found: readonly Found[]): Promise<void> {
  const args = found.flatMap((one) => one.args);
  await promisify(execFile)("ipcrm", args, { env: { PATH: "/usr/bin:/bin" } }).catch(() => {});
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
      const [id = "", ...users] = places.map((at) => row[at]);
      return { args: [option, id], users: users.map(Number) };
    });
}
