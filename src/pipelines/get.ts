import type { Actor } from "../core/actor.ts";
import { toWire, type Uuid } from "../core/ids.ts";
import type { Page } from "../core/page.ts";
import type { PipelineDeps } from "./create.ts";
import type { InProject, Pipeline, SavedPipeline } from "./pipeline.ts";
import { problem } from "./problems.ts";
import { countPipelines, findPipeline, findPipelineById, listPipelines } from "./store/pipelines.ts";

/** The newest version. Throws `project.not_found`, `pipeline.not_found`. */
export type GetPipeline = (actor: Actor, scope: InProject, identifier: string) => Promise<SavedPipeline>;

export const makeGetPipeline =
  (deps: PipelineDeps): GetPipeline =>
  async (actor, scope, identifier) => {
    deps.authorize(actor, "core_pipeline_view", { accountId: actor.accountId, ...scope });
    const pipeline = await findPipeline(deps.db, actor.accountId, scope, identifier);
    if (pipeline) return pipeline;
    // Says which of the two is missing.
    await deps.getProject(actor, scope.orgIdentifier, scope.projectIdentifier);
    throw problem("pipeline.not_found", [identifier, scope.projectIdentifier]);
  };

/** Throws `pipeline.not_found`. */
export type GetPipelineById = (actor: Actor, id: Uuid) => Promise<Pipeline>;

export const makeGetPipelineById =
  (deps: PipelineDeps): GetPipelineById =>
  async (actor, id) => {
    deps.authorize(actor, "core_pipeline_view", { accountId: actor.accountId });
    const pipeline = await findPipelineById(deps.db, actor.accountId, id);
    if (!pipeline) throw problem("pipeline.not_found", [toWire(id), "of this account"]);
    return pipeline;
  };

/** The pipelines of one project, by name. */
export type ListPipelines = (actor: Actor, projectId: Uuid, limit: number, offset: number) => Promise<Page<Pipeline>>;

export const makeListPipelines =
  (deps: PipelineDeps): ListPipelines =>
  async (actor, projectId, limit, offset) => {
    deps.authorize(actor, "core_pipeline_view", { accountId: actor.accountId });
    const items = await listPipelines(deps.db, actor.accountId, projectId, limit, offset);
    return { items, limit, offset, total: () => countPipelines(deps.db, actor.accountId, projectId) };
  };
