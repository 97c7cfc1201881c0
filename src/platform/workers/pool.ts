/** Work of the processor in threads of its own, so that it does not stop the server's event loop. */
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { createFairTurns, type TurnLimits } from "../fair-turns.ts";
import { type Outcome, thrownOf } from "./outcome.ts";
import { problem } from "./problems.ts";

export type PoolDeps = {
  readonly elapsed: () => number;
  /** The module that a worker runs; it calls `answerMessages`. */
  readonly file: URL;
  /** Of one work. */
  readonly timeoutMs?: number;
  readonly memoryMb?: number;
  readonly turns?: TurnLimits;
};

/**
 * Runs a work of an account in a worker. Throws what the work throws, `workers.too_many` (429) if too many of the
 * account wait, `workers.busy` (503) if too many of all wait, and `workers.too_long` (400).
 */
export type RunInWorker = <T>(accountId: string, message: unknown) => Promise<T>;

// One processor is left for the event loop. A worker has its modules in memory: about 40 MiB.
const WORKERS = Math.max(1, Math.min(4, availableParallelism() - 1));
const TURNS: TurnLimits = { atOnce: WORKERS, atOnceOfOne: 1, waiting: 128, waitingOfOne: 16 };
const WAIT_MS = 60_000;
const TIMEOUT_MS = 20_000;
/** A worker without work ends. */
const IDLE_MS = 60_000;
const MEMORY_MB = 512;
const RETRY_SECONDS = 5;

type Idle = { readonly worker: Worker; readonly end: NodeJS.Timeout };

export function createWorkerPool(deps: PoolDeps): RunInWorker {
  const { elapsed, file, timeoutMs = TIMEOUT_MS, memoryMb = MEMORY_MB, turns = TURNS } = deps;
  const inTurn = createFairTurns(turns, elapsed);
  const idle: Idle[] = [];

  function take(): Worker {
    const found = idle.pop();
    if (found) clearTimeout(found.end);
    const worker = found?.worker ?? startWorker(file, memoryMb);
    worker.removeAllListeners();
    return worker;
  }

  function give(worker: Worker): void {
    const one = { worker, end: setTimeout(() => end(), IDLE_MS).unref() };
    const end = (): void => {
      const at = idle.indexOf(one);
      if (at >= 0) idle.splice(at, 1);
      void worker.terminate();
    };
    // A worker that fails without work is replaced.
    worker.removeAllListeners().on("error", end).on("exit", end);
    worker.unref();
    idle.push(one);
  }

  return async <T>(accountId: string, message: unknown): Promise<T> => {
    const outcome = await inTurn(accountId, elapsed() + WAIT_MS, async () => {
      const worker = take();
      const outcome = await answerOf(worker, message, { timeoutMs, memoryMb });
      give(worker);
      return outcome;
    });
    if (!outcome) throw problem("workers.too_many", [], { retryAfter: RETRY_SECONDS });
    if ("thrown" in outcome) throw thrownOf(outcome);
    return outcome.result as T;
  };
}

/** Without the environment of the server, which has keys and passwords. */
const startWorker = (file: URL, memoryMb: number): Worker =>
  new Worker(file, { env: {}, resourceLimits: { maxOldGenerationSizeMb: memoryMb } });

type Bounds = { readonly timeoutMs: number; readonly memoryMb: number };

function answerOf(worker: Worker, message: unknown, { timeoutMs, memoryMb }: Bounds): Promise<Outcome> {
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
  const late = setTimeout(() => reject(problem("workers.too_long", [`${timeoutMs / 1_000} s`])), timeoutMs);
  worker
    .on("message", resolve)
    .on("messageerror", reject)
    .on("error", (error: NodeJS.ErrnoException) =>
      reject(
        error.code === "ERR_WORKER_OUT_OF_MEMORY" ? problem("workers.too_long", [`${memoryMb} MiB of memory`]) : error,
      ),
    )
    .on("exit", () => reject(new Error("the worker has ended")));
  worker.ref();
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- the rule is for windows, this is a thread
  worker.postMessage(message);
  return promise
    .catch((error: unknown) => {
      // Its state is unknown.
      void worker.terminate();
      throw error;
    })
    .finally(() => clearTimeout(late));
}
