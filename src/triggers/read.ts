import { listed } from "../access/index.ts";
import type { Actor } from "../core/actor.ts";
import type { Page, Window } from "../core/page.ts";
import type { GetPipeline } from "../pipelines/index.ts";
import type { GetProject } from "../projects/index.ts";
import type { Db } from "../platform/db/db.ts";
import { problem } from "./problems.ts";
import type { PipelineKey } from "./read-document.ts";
import { selectTrigger } from "./store/triggers.ts";
import { countTriggers, selectTriggers, type TriggerFilter } from "./store/lists.ts";
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
    const filter = { accountId: actor.accountId, of: { pipelineId: pipeline.id }, identifier };
    const [trigger] = await selectTriggers(deps.db, filter, { limit: 1, offset: 0 });
    if (!trigger) throw problem("trigger.not_found", [identifier, within.pipelineIdentifier]);
    return trigger;
  };

export type GetTriggerDetails = ReturnType<typeof getTriggerDetails>;

/** A pipeline, or without its identifier the project. */
type ListScope = Omit<PipelineKey, "pipelineIdentifier"> & { readonly pipelineIdentifier?: string | undefined };

type ListDeps = ReadDeps & { readonly getProject: GetProject };

/**
 * Lists the triggers of a pipeline, or of all pipelines of a project that the actor may see, with their last
 * deliveries. `searchTerm` is a part of name or identifier. Throws `project.not_found`, `pipeline.not_found`.
 */
export const listTriggers =
  (deps: ListDeps) =>
  async (
    actor: Actor,
    { within, searchTerm }: { readonly within: ListScope; readonly searchTerm: string | undefined },
    window: Window,
  ): Promise<Page<ListedTrigger>> => {
    const filter = { accountId: actor.accountId, of: await listedOf(deps, actor, within), searchTerm };
    return {
      items: await selectTriggers(deps.db, filter, window),
      ...window,
      total: () => countTriggers(deps.db, filter),
    };
  };

async function listedOf(deps: ListDeps, actor: Actor, within: ListScope): Promise<TriggerFilter["of"]> {
  const { orgIdentifier, projectIdentifier, pipelineIdentifier } = within;
  if (pipelineIdentifier !== undefined)
    return { pipelineId: (await deps.getPipeline(actor, within, pipelineIdentifier)).id };
  const scope = { accountId: actor.accountId, orgIdentifier, projectIdentifier };
  const pipelines = listed(actor, "core_pipeline_view", scope);
  const { id: projectId } = await deps.getProject(actor, orgIdentifier, projectIdentifier);
  return { projectId, pipelines };
}

export type ListTriggers = ReturnType<typeof listTriggers>;
