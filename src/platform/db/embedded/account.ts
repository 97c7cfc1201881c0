import { readFile, stat } from "node:fs/promises";
import { problem } from "./problems.ts";

/** The operating system's user that PostgreSQL runs as. */
export type Account = {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  /** True if the server runs as root and PostgreSQL as another user. */
  readonly dropped: boolean;
};

/** When the server runs as root, steps of the local delegate run as this user; the database never does. */
export const STEPS_USER = "nobody";
const CANDIDATES = ["postgres", "daemon", "bin"] as const;

/**
 * Chooses the user that runs the database in `cluster`, which may not exist yet: the owner of an existing one,
 * because no other user can; otherwise the current user or, for root, the first of a few users that every system has.
 */
export async function databaseAccount(cluster: string): Promise<Account> {
  const users = await readUsers();
  const owner = await stat(cluster).then(
    ({ uid }) => uid,
    () => undefined,
  );
  const self = process.geteuid?.() ?? 0;
  if (self !== 0) {
    if (owner !== undefined && owner !== self) throw problem("embedded.foreign_owner", [cluster, nameOf(users, owner)]);
    return { name: nameOf(users, self), uid: self, gid: process.getegid?.() ?? self, dropped: false };
  }
  const steps = users.find(({ name }) => name === STEPS_USER);
  if (owner !== undefined && owner === steps?.uid) throw problem("embedded.unsafe_owner", [cluster, STEPS_USER]);
  const found = owner === undefined ? pick(users, steps) : users.find(({ uid }) => uid === owner);
  // PostgreSQL requires a name for its user id.
  if (!found || found.uid === 0) throw noAccount(cluster, owner);
  return { ...found, dropped: true };
}

type User = Pick<Account, "name" | "uid" | "gid">;

function pick(users: readonly User[], steps: User | undefined): User | undefined {
  return CANDIDATES.flatMap((name) => users.filter((it) => it.name === name)).find(
    ({ uid }) => uid !== 0 && uid !== steps?.uid,
  );
}

function noAccount(cluster: string, owner: number | undefined): Error {
  return owner === undefined
    ? problem("embedded.no_account", [CANDIDATES.join(", ")])
    : problem("embedded.foreign_owner", [cluster, `user id ${owner}, who has no name here`]);
}

function nameOf(users: readonly User[], uid: number): string {
  return users.find((it) => it.uid === uid)?.name ?? `user id ${uid}`;
}

async function readUsers(): Promise<readonly User[]> {
  const text = await readFile("/etc/passwd", "utf8").catch(() => "");
  return text.split("\n").flatMap((line) => {
    const [name, , uid, gid] = line.split(":");
    return name && uid && gid ? [{ name, uid: Number(uid), gid: Number(gid) }] : [];
  });
}
