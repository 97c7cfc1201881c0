/** Whether this delegate can take tasks: there is space for them, and the last one could be prepared. */
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MAX_UNAVAILABLE } from "../protocol/messages.ts";
import { codeOf, textOf } from "./fault.ts";
import type { Log } from "./log.ts";
import type { Timers } from "./timers.ts";

export type Availability = {
  /** Looks now. Why no task can be taken, to be read after the delegate's name; undefined when one can. */
  readonly check: () => string | undefined;
  /** What the last look has found. */
  readonly reason: () => string | undefined;
  /** A task could not be prepared: none is taken until a trial succeeds. */
  readonly reportFailure: (error: unknown) => void;
  readonly stop: () => void;
};

type Deps = {
  readonly log: Log;
  readonly timers: Timers;
  /** Where tasks need space. */
  readonly folders: readonly string[];
  /** The reason has come, gone or changed. */
  readonly onChange: () => void;
};

/** A file system is short of space below this, or below a twentieth of its size if that is less. */
const MIN_FREE = 64 * 1024 * 1024;
const TRIAL_BYTES = 64 * 1024;
const MIN_FREE_DIVISOR = 20;
/** And below so many files that can still be made, where they are counted. */
const MIN_FILES = 64;
/** From one look to the next while no tasks are taken. */
const CHECK_INTERVAL_MS = 2_000;

export function createAvailability({ log, timers, folders, onChange }: Deps): Availability {
  let reason: string | undefined;
  let preparationError: string | undefined;
  let stopCheck: (() => void) | undefined;
  let isStopped = false;

  const set = (found: string | undefined): void => {
    const before = reason;
    reason = found?.slice(0, MAX_UNAVAILABLE);
    if (reason !== undefined && !isStopped) stopCheck ??= timers.after(CHECK_INTERVAL_MS, checkAgain);
    // Numbers in it change with each look; whether there is one is what counts.
    if ((before === undefined) === (reason === undefined)) return;
    if (reason === undefined) log.info("this delegate takes tasks again");
    else log.warn({ reason }, "this delegate takes no tasks for now");
    onChange();
  };

  const retryPreparing = (): string | undefined => {
    if (preparationError !== undefined) preparationError = findPreparationError(folders);
    set(findShortage(folders) ?? preparationError);
    return reason;
  };

  const checkAgain = (): void => {
    stopCheck = undefined;
    retryPreparing();
  };

  return {
    check: () => {
      set(findShortage(folders) ?? preparationError);
      return reason;
    },
    reason: () => reason,
    reportFailure: (error) => {
      preparationError = describeError(error);
      set(findShortage(folders) ?? preparationError);
    },
    stop: () => {
      isStopped = true;
      stopCheck?.();
    },
  };
}

/** Does what preparing a task does, and undoes it. */
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

export const isFull = (error: unknown): boolean => ["ENOSPC", "EDQUOT"].includes(codeOf(error) ?? "");

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
