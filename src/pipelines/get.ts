import type { Actor } from "../core/actor.ts";
import type { PipelineDeps } from "./create.ts";
import type { InProject, SavedPipeline } from "./pipeline.ts";
import { problem } from "./problems.ts";
import { findPipeline } from "./store/pipelines.ts";

/** The newest version, unless another one is asked for. Throws `project.not_found`, `pipeline.not_found`. */
export type GetPipeline = (
  actor: Actor,
  scope: InProject,
  identifier: string,
  version?: number,
) => Promise<SavedPipeline>;

export const makeGetPipeline =
  (deps: PipelineDeps): GetPipeline =>
  async (actor, scope, identifier, version) => {
    deps.authorize(actor, "core_pipeline_view", { accountId: actor.accountId, ...scope }, identifier);
    return requirePipeline(deps, actor, scope, identifier, version);
  };

/** The same for a verb that has asked for a permission of its own. */
export async function requirePipeline(
  deps: Pick<PipelineDeps, "db" | "getProject">,
  actor: Actor,
  scope: InProject,
  identifier: string,
  version?: number,
): Promise<SavedPipeline> {
  const pipeline = await findPipeline(deps.db, actor.accountId, scope, identifier, version);
  if (pipeline) return pipeline;
  // Says which of the two is missing.
  await deps.getProject(actor, scope.orgIdentifier, scope.projectIdentifier);
  throw problem("pipeline.not_found", [identifier, scope.projectIdentifier]);
}
