import type { Actor } from "../core/actor.ts";
import type { PipelineDeps } from "./create.ts";
import type { StageChoice } from "./document/select-stages.ts";
import type { GetPipeline } from "./get.ts";
import type { InProject } from "./pipeline.ts";

/** The stages that a run may take by themselves; none if the pipeline does not allow it. Throws what GetPipeline throws. */
export type ListStageChoices = (actor: Actor, scope: InProject, identifier: string) => Promise<readonly StageChoice[]>;

export const createListStageChoices =
  ({ get, runJob }: { readonly get: GetPipeline } & Pick<PipelineDeps, "runJob">): ListStageChoices =>
  async (actor, { orgIdentifier, projectIdentifier }, identifier) => {
    const scope = { orgIdentifier, projectIdentifier };
    const { yaml } = await get(actor, scope, identifier);
    return runJob(actor.accountId, "stageChoices", { yaml, scope });
  };
