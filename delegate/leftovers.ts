/**
 * What steps leave outside of their folders, where every user may make things: files in /tmp and its like, and System V
 * shared memory, queues and semaphores. It goes before the user that owns it becomes another task's.
 * Many ended tasks share one look, and a folder that has not changed is not read again.
 */
import { execFile } from "node:child_process";
import { lstatSync, readFileSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { codeOf, textOf } from "./fault.ts";
import type { Log } from "./log.ts";
import { removeTree } from "./remove-tree.ts";
import type { StepOwner, StepUser } from "./step-user.ts";
import type { Timers } from "./timers.ts";

export type Leftovers = {
  /** The task has no process any more. Its user is given back when nothing else of it is left either. */
  readonly end: (owner: StepOwner) => void;
  readonly stop: () => void;
};

const PUBLIC = ["/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue"];
/** Of the kernel's tables, with the option of ipcrm that takes an id. */
const TABLES = { shm: "-m", msg: "-q", sem: "-s" } as const;
/** A folder's time of change counts in steps of a few milliseconds. */
const GRAIN_MS = 100;

type Deps = {
  readonly log: Pick<Log, "warn">;
  readonly timers: Timers;
  readonly everyMs: number;
  readonly user: Pick<StepUser, "giveBack" | "isUnused">;
};

export function makeLeftovers({ log, timers, everyMs, user }: Deps): Leftovers {
  const ended = new Map<number, StepOwner>();
  const seen = new Map<string, { readonly changedAt: number; readonly lookedAt: number }>();
  let stop: (() => void) | undefined;
  const isLeft = (uid: number): boolean => ended.has(uid) || user.isUnused(uid);

  /** Answers the users of which something is still there. */
  const clean = async (folder: string): Promise<readonly number[]> => {
    const changedAt = statSync(folder, { throwIfNoEntry: false })?.mtimeMs;
    const last = seen.get(folder);
    if (changedAt === undefined || (last?.changedAt === changedAt && changedAt < last.lookedAt - GRAIN_MS)) return [];
    const lookedAt = timers.now();
    const kept = new Set<number>();
    for (const name of await readdir(folder)) {
      const path = join(folder, name);
      const uid = lstatSync(path, { throwIfNoEntry: false })?.uid;
      if (uid === undefined || !isLeft(uid)) continue;
      await removeTree(path).catch((error: unknown) => {
        kept.add(uid);
        log.warn({ path, error: textOf(error) }, "what a step has left behind could not be removed");
      });
    }
    if (kept.size === 0) seen.set(folder, { changedAt, lookedAt });
    return [...kept];
  };

  const look = async (): Promise<void> => {
    const now = [...ended];
    const kept = new Set([await removeIpc(isLeft), ...(await Promise.all(PUBLIC.map(clean)))].flat());
    for (const [uid, owner] of now) {
      // It is tried again with the next task's.
      if (kept.has(uid)) continue;
      ended.delete(uid);
      user.giveBack(owner);
    }
  };

  const soon = (): void => {
    stop ??= timers.after(everyMs, () => {
      look()
        .catch((error: unknown) =>
          log.warn({ error: textOf(error) }, "what steps leave behind could not be looked for"),
        )
        .finally(() => {
          stop = undefined;
          if (ended.size > 0) soon();
        });
    });
  };
  // An earlier delegate may not have come to it.
  soon();

  return {
    end: (owner) => {
      if (!owner.ownUser) return user.giveBack(owner);
      ended.set(owner.uid, owner);
      soon();
    },
    stop: () => stop?.(),
  };
}

/** Answers the users whose things could not be removed. */
async function removeIpc(isLeft: (uid: number) => boolean): Promise<readonly number[]> {
  const found = Object.entries(TABLES).flatMap(([table, option]) =>
    rowsOf(table)
      .filter(({ uid }) => isLeft(uid))
      .map(({ id, uid }) => ({ uid, args: [option, String(id)] })),
  );
  if (found.length === 0) return [];
  try {
    await promisify(execFile)(
      "ipcrm",
      found.flatMap(({ args }) => args),
      { env: { PATH: "/usr/bin:/bin" } },
    );
    return [];
  } catch {
    return found.map(({ uid }) => uid);
  }
}

/** The kernel's tables have a line of names above their columns. */
function rowsOf(table: string): readonly { readonly id: number; readonly uid: number }[] {
  let text: string;
  try {
    text = readFileSync(`/proc/sysvipc/${table}`, "latin1");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
  const [head = [], ...rows] = text.split("\n").map((line) => line.trim().split(/\s+/));
  return rows
    .filter(({ length }) => length > 1)
    .map((row) => ({ id: Number(row[head.indexOf(`${table}id`)]), uid: Number(row[head.indexOf("uid")]) }));
}
