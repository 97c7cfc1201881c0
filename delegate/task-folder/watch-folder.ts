/** Notices that a task's files have changed: tasks/task.ts then reads the journal and sends new output. */
import { watch } from "node:fs";
import type { Timers } from "../timers.ts";

/** How soon `watchFolder` reports a change, in milliseconds. */
export type Intervals = {
  readonly timers: Timers;
  /** From a change to the call: one call serves all changes of this time. */
  readonly flushMs: number;
  /** Polling interval, for lost notifications and for systems without them. */
  readonly pollMs: number;
};

/**
 * Calls `look` soon after the folder's files change, and at the polling
 * interval. The kernel's watch is created at the first call, so that a step
 * that ends before it needs none. Returns a function that stops the watching.
 */
export function watchFolder(folder: string, { timers, flushMs, pollMs }: Intervals, look: () => void): () => void {
  let stopFlush: (() => void) | undefined;
  let stopWatch: (() => void) | undefined;
  let stopPoll: (() => void) | undefined;
  let stopped = false;

  const soon = (): void => {
    stopFlush ??= timers.after(flushMs, () => {
      stopFlush = undefined;
      // The watcher starts before the check, so that no change between the two is missed.
      stopWatch ??= createWatcher(folder, soon);
      look();
    });
  };
  const poll = (): void => {
    stopPoll = timers.after(pollMs, () => {
      soon();
      if (!stopped) poll();
    });
  };
  soon();
  poll();
  return () => {
    stopped = true;
    for (const stop of [stopFlush, stopWatch, stopPoll]) stop?.();
    stopFlush = () => {};
  };
}

function createWatcher(folder: string, changed: () => void): () => void {
  try {
    const watcher = watch(folder, { persistent: false }, changed);
    // The folder was removed, or the kernel has no watches left: the polling continues.
    watcher.on("error", () => watcher.close());
    return () => watcher.close();
  } catch {
    return () => {};
  }
}
