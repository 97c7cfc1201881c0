/**
 * Reads one execution for all its followers on this server. It reads when the execution is woken, at once after a rest
 * and otherwise in intervals that grow with what a reading costs: an execution of many nodes takes a fixed part of
 * the processor, however fast its nodes change.
 */
import type { RunKey } from "../store/advance.ts";
import { createExecutionView, type ExecutionView } from "./execution-view.ts";
import { createPace, resumed } from "../../platform/pace.ts";
import { readChanges, readWhole, type ReadDeps } from "./read-execution.ts";

export type ExecutionFeed = {
  readonly run: RunKey;
  readonly view: ExecutionView;
  /** Something about the execution may have changed. */
  readonly wake: () => void;
  /** Resolves after a reading that begins now. */
  readonly refresh: () => Promise<void>;
  /**
   * Resolves when the view is beyond the change `at`, after `ms`, or when `signal` aborts. Rejects when the execution
   * cannot be read. `deleted`: it does not exist any more.
   */
  readonly next: (at: number, ms: number, signal: AbortSignal) => Promise<"changed" | "same" | "deleted">;
  /** Whether a reading has failed or found nothing: the feed is over. */
  readonly isOver: () => boolean;
  readonly stop: () => void;
};

/** Undefined for an execution that does not exist. `isFollowed`: it does not read for nobody. */
export async function createExecutionFeed(
  deps: ReadDeps,
  run: RunKey,
  isFollowed: () => boolean,
): Promise<ExecutionFeed | undefined> {
  const first = await readWhole(deps, run);
  if (!first) return undefined;
  const view = createExecutionView(first);
  const waiting = new Set<() => void>();
  let over: { readonly error?: unknown } | undefined;

  async function read(): Promise<void> {
    try {
      const reading = await readChanges(deps, run, { known: view.reading(), logSum: view.logs.sum() });
      if (!reading) over = {};
      else if (!view.update(reading)) return;
    } catch (error) {
      over = { error };
    }
    for (const resume of waiting) resume();
  }

  const pace = createPace(deps.clock, read);
  const refresh = async (): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    pace.run(resolve);
    await promise;
  };
  return {
    run,
    view,
    refresh,
    wake: () => {
      if (!over && isFollowed()) pace.run();
      else pace.defer();
    },
    async next(at, ms, signal) {
      pace.runDeferred();
      if (!over && view.at() === at && !signal.aborted) await resumed(waiting, ms, signal);
      if (over?.error !== undefined)
        throw over.error instanceof Error ? over.error : new Error("the execution cannot be read");
      if (over) return "deleted";
      return view.at() > at ? "changed" : "same";
    },
    isOver: () => over !== undefined,
    stop: () => {
      over ??= {};
      pace.stop();
      for (const resume of waiting) resume();
    },
  };
}
