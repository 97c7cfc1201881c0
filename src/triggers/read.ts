import type { Actor } from "../core/actor.ts";
import type { Page, Window } from "../core/page.ts";
import type { GetPipeline } from "../pipelines/index.ts";
import type { Db } from "../platform/db/db.ts";
import { problem } from "./problems.ts";
import type { OfPipeline } from "./saved.ts";
import { findTrigger } from "./store.ts";
import { countTriggers, listTriggers } from "./store/lists.ts";
import type { ListedTrigger, Trigger } from "./trigger.ts";

type ReadDeps = { readonly db: Pick<Db, "query">; readonly getPipeline: GetPipeline };

/** Throws `pipeline.not_found`, `trigger.not_found`. */
export type GetTrigger = (actor: Actor, within: OfPipeline, identifier: string) => Promise<Trigger>;

export const makeGetTrigger =
  (deps: ReadDeps): GetTrigger =>
  async (actor, within, identifier) => {
    const pipeline = await deps.getPipeline(actor, within, within.pipelineIdentifier);
    const trigger = await findTrigger(deps.db, actor.accountId, pipeline.id, identifier);
    if (!trigger) throw problem("trigger.not_found", [identifier, within.pipelineIdentifier]);
    return trigger;
  };

/** The same with what was delivered last. */
export type GetTriggerDetails = (actor: Actor, within: OfPipeline, identifier: string) => Promise<ListedTrigger>;

export const makeGetTriggerDetails =
  (deps: ReadDeps): GetTriggerDetails =>
  async (actor, within, identifier) => {
    const pipeline = await deps.getPipeline(actor, within, within.pipelineIdentifier);
    const one = { limit: 1, offset: 0 };
    const [trigger] = await listTriggers(deps.db, actor.accountId, pipeline.id, { identifier }, one);
    if (!trigger) throw problem("trigger.not_found", [identifier, within.pipelineIdentifier]);
    return trigger;
  };

/** The triggers of a pipeline, each with what was delivered last. `searchTerm`: a part of name or identifier. Throws `pipeline.not_found`. */
export type ListTriggers = (
  actor: Actor,
  within: OfPipeline,
  searchTerm: string | undefined,
  window: Window,
) => Promise<Page<ListedTrigger>>;

export const makeListTriggers =
  (deps: ReadDeps): ListTriggers =>
  async (actor, within, searchTerm, window) => {
    const pipeline = await deps.getPipeline(actor, within, within.pipelineIdentifier);
    const { accountId } = actor;
    return {
      items: await listTriggers(deps.db, accountId, pipeline.id, { searchTerm }, window),
      ...window,
      total: () => countTriggers(deps.db, accountId, pipeline.id, { searchTerm }),
    };
  };
