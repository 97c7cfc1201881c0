/** When what is followed is read again, and how its followers wait. */
import type { Clock } from "../core/clock.ts";
import { outsideShares } from "./db/pool/budget.ts";

/** From the end of a reading to the next one at the earliest. */
const REST_MS = 50;
/** The same in times of what the reading took, and at most. */
const REST_FACTOR = 8;
const LONGEST_REST_MS = 1_000;
/** Proxies close connections that are silent for longer. */
export const KEEP_ALIVE_MS = 15_000;
/** Browsers reconnect between these moments, so that those of a restarted server do not come at once. */
const RETRY_MS = { least: 1_000, spread: 2_000 } as const;

export const retryMs = (): number => RETRY_MS.least + Math.floor(Math.random() * RETRY_MS.spread);

/** Runs `work` when asked, one run at a time, with rests in between. */
export function createPace({ elapsed }: Pick<Clock, "elapsed">, work: () => Promise<void>) {
  let isWanted = false;
  let isRunning = false;
  let callers: (() => void)[] = [];
  let notBefore = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;

  async function runNow(): Promise<void> {
    timer = undefined;
    [isWanted, isRunning] = [false, true];
    const told = callers;
    callers = [];
    const from = elapsed();
    await work();
    const to = elapsed();
    notBefore = to + Math.min(LONGEST_REST_MS, Math.max(REST_MS, (to - from) * REST_FACTOR));
    isRunning = false;
    for (const tell of told) tell();
    if (isWanted) run();
  }

  function run(onDone?: () => void): void {
    isWanted = true;
    if (onDone) callers.push(onDone);
    if (isRunning || timer) return;
    const rest = notBefore - elapsed();
    // What is read serves all followers, and belongs to no share of one of them.
    outsideShares(() => {
      if (rest <= 0) void runNow();
      else timer = setTimeout(() => void runNow(), rest).unref();
    });
  }

  return {
    /** Runs it as soon as possible, and then calls `onDone`. */
    run,
    /** Runs it with the next `runDeferred`. */
    defer: (): void => void (isWanted = true),
    runDeferred: (): void => {
      if (isWanted && !isRunning && !timer) run();
    },
    stop(): void {
      clearTimeout(timer);
      for (const tell of callers) tell();
    },
  };
}

/** Resolves when a function of `waiting` is called, after `ms`, or when `signal` aborts. */
export function resumed(waiting: Set<() => void>, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      waiting.delete(done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    waiting.add(done);
    signal.addEventListener("abort", done);
  });
}
