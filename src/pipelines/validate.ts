import type { Actor } from "../core/actor.ts";
import type { PipelineDeps } from "./create.ts";
import { readPipeline } from "./document/index.ts";
import type { GetPipeline } from "./get.ts";
import type { InProject } from "./pipeline.ts";
import type { PipelineText } from "./text.ts";

/**
 * Answers the identifier of a pipeline that could be saved; throws what saving throws of its document. Bash is asked for
 * those only who may save it.
 */
export type ValidatePipeline = (actor: Actor, scope: InProject, yaml: PipelineText) => Promise<string>;

export const makeValidatePipeline =
  (deps: Pick<PipelineDeps, "authorize" | "permits" | "checkScripts">): ValidatePipeline =>
  async (actor, scope, { text, format }) => {
    const { accountId } = actor;
    deps.authorize(actor, "core_pipeline_view", { accountId, ...scope });
    const { pipeline, doc } = readPipeline(text, scope, { format });
    if (deps.permits(actor, "core_pipeline_edit", { accountId, ...scope }, pipeline.identifier))
      await deps.checkScripts(accountId, pipeline, doc);
    return pipeline.identifier;
  };

/** The same of the newest version that is saved: what an earlier release took, this one may refuse. */
export type ValidateSaved = (actor: Actor, scope: InProject, identifier: string) => Promise<string>;

export const makeValidateSaved =
  (deps: { readonly get: GetPipeline }): ValidateSaved =>
  async (actor, scope, identifier) =>
    readPipeline((await deps.get(actor, scope, identifier)).yaml, scope).pipeline.identifier;
