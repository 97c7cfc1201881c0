import type { Actor } from "../core/actor.ts";
import type { PipelineDeps } from "./create.ts";
import type { GetPipeline } from "./get.ts";
import { locatorOf, type RunJob } from "./jobs/run-job.ts";
import type { InProject } from "./pipeline.ts";
import { type PipelineText, toRead } from "./text.ts";

/**
 * Answers the identifier of a pipeline that could be saved; throws what saving throws of its document. Bash is asked for
 * those only who may save it.
 */
export type ValidatePipeline = (actor: Actor, scope: InProject, yaml: PipelineText) => Promise<string>;

export const makeValidatePipeline =
  (deps: Pick<PipelineDeps, "authorize" | "permits" | "checkScripts" | "runJob">): ValidatePipeline =>
  async (actor, scope, sent) => {
    const { accountId } = actor;
    deps.authorize(actor, "core_pipeline_view", { accountId, ...scope });
    const { document } = await deps.runJob(accountId, "read", toRead(sent, scope));
    if (deps.permits(actor, "core_pipeline_edit", { accountId, ...scope }, document.identifier))
      await deps.checkScripts(accountId, document, locatorOf(deps.runJob, accountId, sent));
    return document.identifier;
  };

/** The same of the newest version that is saved: what an earlier release took, this one may refuse. */
export type ValidateSaved = (actor: Actor, scope: InProject, identifier: string) => Promise<string>;

export const makeValidateSaved =
  ({ get, runJob }: { readonly get: GetPipeline; readonly runJob: RunJob }): ValidateSaved =>
  async (actor, scope, identifier) => {
    const { yaml } = await get(actor, scope, identifier);
    const { document } = await runJob(actor.accountId, "read", { text: yaml, format: "yaml", scope });
    return document.identifier;
  };
