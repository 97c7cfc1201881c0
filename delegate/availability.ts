/** Whether this delegate can accept tasks: its file systems have space, and the last preparation succeeded. */
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MAX_UNAVAILABLE } from "../protocol/messages.ts";
import { isFull, textOf } from "./fault.ts";
import type { Log } from "./log.ts";
import type { Timers } from "./timers.ts";

/** Result of the last check. While no tasks are accepted, it checks again by itself until `stop`. */
export type Availability = {
  /** Checks now. Returns why no task can be accepted, to follow the delegate's name; undefined if tasks can. */
  readonly check: () => string | undefined;
  /** The result of the last check. */
  readonly reason: () => string | undefined;
  /** Reports that a task could not be prepared: none is accepted until a trial succeeds. */
  readonly reportFailure: (error: unknown) => void;
  readonly stop: () => void;
};

type Deps = {
  readonly log: Log;
  readonly timers: Timers;
  /** Folders in which tasks need space. */
  readonly folders: readonly string[];
  /** Examines the folder, and makes a missing one if the delegate may. @throws while it cannot be used */
  readonly restore?: (folder: string) => void;
  /** Called when the delegate becomes available or unavailable. */
  readonly onChange: () => void;
};

/** Minimum of free bytes, or a twentieth of the file system's size if that is less. */
const MIN_FREE = 64 * 1024 * 1024;
const TRIAL_BYTES = 64 * 1024;
const MIN_FREE_DIVISOR = 20;
/** Minimum of free inodes, on file systems that count them. */
const MIN_FILES = 64;
/** Pause between two checks while no tasks are accepted. */
const CHECK_INTERVAL_MS = 2_000;

/** Assumes that tasks can be accepted until the first `check`. */
export function createAvailability({ log, timers, folders, restore, onChange }: Deps): Availability {
  let reason: string | undefined;
  let preparationError: string | undefined;
  let stopCheck: (() => void) | undefined;
  let isStopped = false;

  const set = (found: string | undefined): void => {
    const before = reason;
    reason = found?.slice(0, MAX_UNAVAILABLE);
    if (reason !== undefined && !isStopped) stopCheck ??= timers.after(CHECK_INTERVAL_MS, checkAgain);
    // The numbers in the reason change with each check; only a change between available and unavailable counts.
    if ((before === undefined) === (reason === undefined)) return;
    if (reason === undefined) log.info("this delegate accepts tasks again");
    else log.warn({ reason }, "this delegate accepts no tasks");
    onChange();
  };

  const retryPreparing = (): string | undefined => {
    if (preparationError !== undefined) preparationError = findPreparationError(folders);
    set(findProblem(folders, restore) ?? preparationError);
    return reason;
  };

  const checkAgain = (): void => {
    stopCheck = undefined;
    retryPreparing();
  };

  return {
    check: () => {
      set(findProblem(folders, restore) ?? preparationError);
      return reason;
    },
    reason: () => reason,
    reportFailure: (error) => {
      preparationError = describeError(error);
      set(findProblem(folders, restore) ?? preparationError);
    },
    stop: () => {
      isStopped = true;
      stopCheck?.();
    },
  };
}

/** Tries to create a folder and a file, as the preparation of a task does, and removes them. */
function findPreparationError(folders: readonly string[]): string | undefined {
  try {
    for (const folder of folders) {
      const trial = mkdtempSync(join(folder, ".trial-"));
      try {
        writeFileSync(join(trial, "file"), Buffer.alloc(TRIAL_BYTES));
      } finally {
        rmSync(trial, { recursive: true, force: true });
      }
    }
    return undefined;
  } catch (error) {
    return describeError(error);
  }
}

const describeError = (error: unknown): string =>
  isFull(error) ? "is short of disk space" : `cannot prepare steps: ${textOf(error)}`;

/** Never throws: a folder that cannot be examined is a reason, too. */
function findProblem(folders: readonly string[], restore: (folder: string) => void = () => {}): string | undefined {
  try {
    for (const folder of folders) restore(folder);
    return findShortage(folders);
  } catch (error) {
    return `${isFull(error) ? "is short of disk space" : "cannot use its folders"}: ${textOf(error)}`;
  }
}

function findShortage(folders: readonly string[]): string | undefined {
  for (const folder of folders) {
    const { bavail, blocks, bsize, files, ffree } = statfsSync(folder);
    const least = Math.min(MIN_FREE, (blocks * bsize) / MIN_FREE_DIVISOR);
    if (bavail * bsize < least)
      return `is short of disk space: ${kib(bavail * bsize)} KiB are free in ${folder}, and ${kib(least)} KiB are needed`;
    if (files > 0 && ffree < MIN_FILES) return `is short of disk space: ${ffree} more files fit into ${folder}`;
  }
  return undefined;
}

const kib = (bytes: number): number => Math.floor(bytes / 1024);
