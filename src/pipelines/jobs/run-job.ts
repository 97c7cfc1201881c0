/** Runs jobs on documents: small ones at once, large ones in a worker (docs/decisions/0042-large-documents-are-read-in-workers.md). */
import type { Clock } from "../../core/clock.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Limits } from "../../platform/document/limits.ts";
import { isTooLarge } from "../../platform/document/problems.ts";
import { createWorkerPool } from "../../platform/workers/pool.ts";
import type { Locate } from "../bash-syntax.ts";
import { PIPELINE_LIMITS } from "../document/limits.ts";
import type { PipelineText } from "../text.ts";
import { type Asked, type JobName, type JobOptions, jobs, type Result } from "./jobs.ts";

/** Throws what the job throws, and where the documents are large, the problems of `createWorkerPool`. */
export type RunJob = <N extends JobName>(accountId: Uuid, name: N, asked: Asked<N>) => Promise<Result<N>>;

export type JobMessage = { readonly name: JobName; readonly asked: unknown };

// What the server's own thread reads: at most 30 ms of the event loop.
const SMALL: Limits = { ...PIPELINE_LIMITS, maxBytes: 64 * 1024, maxNodes: 2_000 };

type Run = (asked: unknown, options: JobOptions) => unknown;

export function createRunJob({ elapsed }: Pick<Clock, "elapsed">): RunJob {
  const inWorker = createWorkerPool({ elapsed, file: new URL("./worker.ts", import.meta.url) });

  return async <N extends JobName>(accountId: Uuid, name: N, asked: Asked<N>): Promise<Result<N>> => {
    if (lengthOf(asked) <= SMALL.maxBytes) {
      try {
        return (await (jobs[name] as Run)(asked, { limits: SMALL })) as Result<N>;
      } catch (error) {
        if (!isTooLarge(error)) throw error;
      }
    }
    return inWorker<Result<N>>(accountId, { name, asked } satisfies JobMessage);
  };
}

/** Characters of all texts. */
function lengthOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce<number>((sum, one) => sum + lengthOf(one), 0);
}

/** Finds places of a text that was read. */
export const locatorOf =
  (runJob: RunJob, accountId: Uuid, { text, format }: PipelineText): Locate =>
  (places) =>
    runJob(accountId, "locate", { text, format, places });
