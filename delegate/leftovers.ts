/**
 * What steps leave outside of their folders, where every user may make things: files in /tmp and its like, message
 * queues, System V memory and semaphores, keys. It goes before the user that owns it becomes another task's.
 * Many ended tasks share one look, and a folder that has not changed is not read again.
 */
import { lstatSync, type Stats, statSync } from "node:fs";
import { opendir } from "node:fs/promises";
import { join } from "node:path";
import { codeOf, textOf } from "./fault.ts";
import { clearKeyrings } from "./keyrings.ts";
import type { Log } from "./log.ts";
import { BATCH, removeTree } from "./remove-tree.ts";
import type { StepOwner, StepUser } from "./step-user.ts";
import { removeSystemV } from "./system-v.ts";
import type { Timers } from "./timers.ts";

export type Leftovers = {
  /** The task has no process any more. Its user is given back when nothing else of it is left either. */
  readonly end: (owner: StepOwner) => void;
  /** Does what has failed at each look, until it does not fail. */
  readonly again: (work: () => Promise<void>) => void;
  readonly stop: () => void;
};

/** A folder's time of change counts in steps of a few milliseconds. */
const GRAIN_MS = 100;
/** Where a step can leave more than can be told. */
const MAX_TOLD = 1_000;

type Deps = {
  readonly log: Pick<Log, "warn">;
  readonly timers: Timers;
  readonly everyMs: number;
  readonly user: Pick<StepUser, "giveBack" | "isUnused" | "isOurs">;
  /** Where every user may make things; asked at each look. */
  readonly folders: () => readonly string[];
};

export function makeLeftovers({ log, timers, everyMs, user, folders }: Deps): Leftovers {
  const ended = new Map<number, StepOwner>();
  const retries = new Set<() => Promise<void>>();
  const seen = new Map<string, { readonly changedAt: number; readonly lookedAt: number }>();
  const told = new Set<string>();
  let stop: (() => void) | undefined;
  const isLeft = (uid: number): boolean => ended.has(uid) || user.isUnused(uid);
  const tell = (what: string, error: string): void => {
    if (told.has(what) || told.size >= MAX_TOLD) return;
    told.add(what);
    log.warn({ path: what, error }, "what a step has left behind could not be removed; it is tried again");
  };

  /** Answers the users of which something is still there. */
  const clean = async (folder: string): Promise<readonly number[]> => {
    const changedAt = statOf(folder)?.mtimeMs;
    const last = seen.get(folder);
    if (changedAt === undefined || (last?.changedAt === changedAt && changedAt < last.lookedAt - GRAIN_MS)) return [];
    const lookedAt = timers.now();
    const kept = new Set<number>();
    // What a step has made that still runs goes when it has ended, which does not change the folder.
    let isPassedOver = false;
    for await (const { name } of await opendir(folder, { bufferSize: BATCH })) {
      const path = join(folder, name);
      const uid = lstatSync(path, { throwIfNoEntry: false })?.uid;
      if (uid === undefined) continue;
      if (isLeft(uid))
        await removeTree(path).catch((error: unknown) => {
          kept.add(uid);
          tell(path, textOf(error));
        });
      else isPassedOver ||= user.isOurs(uid);
    }
    if (kept.size > 0 || isPassedOver) seen.delete(folder);
    else seen.set(folder, { changedAt, lookedAt });
    return [...kept];
  };

  const look = async (): Promise<void> => {
    const now = [...ended];
    const systemV = await removeSystemV(isLeft);
    if (systemV.length > 0) tell("/proc/sysvipc", "something of it is still there");
    const kept = new Set([systemV, ...(await Promise.all(folders().map(clean)))].flat());
    await clearKeyrings(now.map(([uid]) => uid));
    for (const [uid, owner] of now) {
      // It is tried again with the next task's.
      if (kept.has(uid)) continue;
      ended.delete(uid);
      user.giveBack(owner);
    }
  };

  const retry = async (): Promise<void> => {
    for (const work of [...retries])
      await work().then(
        () => retries.delete(work),
        () => undefined,
      );
  };

  const soon = (): void => {
    stop ??= timers.after(everyMs, () => {
      Promise.all([look(), retry()])
        .catch((error: unknown) =>
          log.warn({ error: textOf(error) }, "what steps leave behind could not be looked for"),
        )
        .finally(() => {
          stop = undefined;
          if (ended.size > 0 || retries.size > 0) soon();
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
    again: (work) => {
      retries.add(work);
      soon();
    },
    stop: () => stop?.(),
  };
}

/** Undefined when it is gone; the view of a launcher may be closed to the delegate. */
function statOf(folder: string): Stats | undefined {
  try {
    return statSync(folder, { throwIfNoEntry: false });
  } catch (error) {
    if (["EACCES", "EPERM", "ESRCH"].includes(codeOf(error) ?? "")) return undefined;
    throw error;
  }
}
