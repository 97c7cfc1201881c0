import type { Actor } from "../core/actor.ts";
import type { Page, Window } from "../core/page.ts";
import type { GetPipeline } from "../pipelines/index.ts";
import type { Db } from "../platform/db/db.ts";
import { problem } from "./problems.ts";
import type { PipelineKey } from "./read-document.ts";
import { selectTrigger } from "./store/triggers.ts";
import { countTriggers, selectTriggers } from "./store/lists.ts";
import type { ListedTrigger, Trigger } from "./trigger.ts";

type ReadDeps = { readonly db: Pick<Db, "query">; readonly getPipeline: GetPipeline };

/** Returns one trigger. Throws `pipeline.not_found`, `trigger.not_found`. */
export const getTrigger =
  (deps: ReadDeps) =>
  async (actor: Actor, within: PipelineKey, identifier: string): Promise<Trigger> => {
    const pipeline = await deps.getPipeline(actor, within, within.pipelineIdentifier);
    const trigger = await selectTrigger(deps.db, { accountId: actor.accountId, pipelineId: pipeline.id, identifier });
    if (!trigger) throw problem("trigger.not_found", [identifier, within.pipelineIdentifier]);
    return trigger;
  };

export type GetTrigger = ReturnType<typeof getTrigger>;

/** Returns one trigger with its last delivery. Throws `pipeline.not_found`, `trigger.not_found`. */
export const getTriggerDetails =
  (deps: ReadDeps) =>
  async (actor: Actor, within: PipelineKey, identifier: string): Promise<ListedTrigger> => {
    const pipeline = await deps.getPipeline(actor, within, within.pipelineIdentifier);
    const filter = { accountId: actor.accountId, pipelineId: pipeline.id, identifier };
    const [trigger] = await selectTriggers(deps.db, filter, { limit: 1, offset: 0 });
    if (!trigger) throw problem("trigger.not_found", [identifier, within.pipelineIdentifier]);
    return trigger;
  };

export type GetTriggerDetails = ReturnType<typeof getTriggerDetails>;

/**
 * Lists the triggers of a pipeline with their last deliveries. `searchTerm` is a part of name or identifier. Throws
 * `pipeline.not_found`.
 */
export const listTriggers =
  (deps: ReadDeps) =>
  async (
    actor: Actor,
    { within, searchTerm }: { readonly within: PipelineKey; readonly searchTerm: string | undefined },
    window: Window,
  ): Promise<Page<ListedTrigger>> => {
    const pipeline = await deps.getPipeline(actor, within, within.pipelineIdentifier);
    const filter = { accountId: actor.accountId, pipelineId: pipeline.id, searchTerm };
    return {
      items: await selectTriggers(deps.db, filter, window),
      ...window,
      total: () => countTriggers(deps.db, filter),
    };
  };

export type ListTriggers = ReturnType<typeof listTriggers>;
