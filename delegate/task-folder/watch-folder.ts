import { watch } from "node:fs";
import type { Timers } from "../timers.ts";

export type Intervals = {
  readonly timers: Timers;
  /** From a change to the look at it: what comes in this time is taken together. */
  readonly flushMs: number;
  /** A look without any change, in case the kernel's notice was lost or none is to be had. */
  readonly pollMs: number;
};

/**
 * Calls `look` soon after the folder's files change, and now and then without
 * that. The kernel's watch is made at the first look, so that a step that ends
 * before it costs none. Returns its end.
 */
export function watchFolder(folder: string, { timers, flushMs, pollMs }: Intervals, look: () => void): () => void {
  let stopFlush: (() => void) | undefined;
  let stopWatch: (() => void) | undefined;
  let stopPoll: (() => void) | undefined;
  let stopped = false;

  const soon = (): void => {
    stopFlush ??= timers.after(flushMs, () => {
      stopFlush = undefined;
      // The watch stands before the look: nothing can change unseen between the two.
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
    // The folder is gone, or the kernel has no watches left: the slow look goes on.
    watcher.on("error", () => watcher.close());
    return () => watcher.close();
  } catch {
    return () => {};
  }
}
