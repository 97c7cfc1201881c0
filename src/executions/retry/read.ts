/** What may be retried of an execution, and its retries. */
import type { Actor } from "../../core/actor.ts";
import type { Clock } from "../../core/clock.ts";
import { type RetryPlace, retryPlaces } from "../../engine/index.ts";
import type { MaybeInProject } from "../../pipelines/index.ts";
import type { Db } from "../../platform/db/db.ts";
import type { GetExecution, GetListed } from "../get.ts";
import { problem } from "../problems.ts";
import { listRetries, type RetryRow } from "../store/retries.ts";
import { whyNoRetry } from "./can-retry.ts";

/** `why`: why the execution cannot be retried; then there are no places. */
export type RetryStages = { readonly why: string | undefined; readonly places: readonly RetryPlace[] };

/** The places that a retry can start at. Throws `execution.not_found`, `execution.not_of_pipeline`. */
export type GetRetryStages = (
  actor: Actor,
  id: string,
  scope: MaybeInProject & { readonly pipelineIdentifier?: string | undefined },
) => Promise<RetryStages>;

export const makeGetRetryStages =
  ({ get, clock }: { readonly get: GetExecution; readonly clock: Clock }): GetRetryStages =>
  async (actor, id, { pipelineIdentifier, ...scope }) => {
    const execution = await get(actor, id, scope);
    if (pipelineIdentifier !== undefined && pipelineIdentifier !== execution.pipelineIdentifier)
      throw problem("execution.not_of_pipeline", [id, pipelineIdentifier]);
    const why = whyNoRetry(execution, clock.now());
    if (why !== undefined) return { why, places: [] };
    const places = retryPlaces(execution);
    return { why: places.length === 0 ? "none of its stages has failed" : undefined, places };
  };

/** Whether an execution can be retried. Throws `execution.not_found`. */
export type GetCanRetry = (actor: Actor, id: string, scope: MaybeInProject) => Promise<boolean>;

export const makeGetCanRetry =
  ({ getListed, clock }: { readonly getListed: GetListed; readonly clock: Clock }): GetCanRetry =>
  async (actor, id, scope) =>
    whyNoRetry(await getListed(actor, id, scope), clock.now()) === undefined;

/** An execution with the others of its row of retries, newest first. Throws `execution.not_found`. */
export type GetRetryHistory = (actor: Actor, id: string, scope: MaybeInProject) => Promise<readonly RetryRow[]>;

export const makeGetRetryHistory =
  ({ db, getListed }: { readonly db: Db; readonly getListed: GetListed }): GetRetryHistory =>
  async (actor, id, scope) => {
    const execution = await getListed(actor, id, scope);
    return listRetries(db, actor.accountId, execution.retryRootId ?? execution.id);
  };
