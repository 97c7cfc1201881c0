/** What a form for a run asks for, and whether a run would take given inputs. */
import type { Actor } from "../../core/actor.ts";
import { type Fault, Problem } from "../../core/problem.ts";
import type { PipelineDeps } from "../create.ts";
import type { InputField } from "../document/input-fields.ts";
import type { GetPipeline } from "../get.ts";
import type { InputsOfSets } from "../input-sets/index.ts";
import { type InProject, placeOf } from "../pipeline.ts";
import type { PrepareRun } from "../prepare-run.ts";
import type { PipelineText } from "../text.ts";

export type RuntimeInputs = {
  readonly version: number;
  /** As YAML; null if a run takes none. */
  readonly template: string | null;
  readonly fields: readonly InputField[];
};

/** The runtime inputs of the newest version. Throws `pipeline.not_found`. */
export const getRuntimeInputs =
  ({ get, runJob }: Pick<PipelineDeps, "runJob"> & { readonly get: GetPipeline }) =>
  async (actor: Actor, scope: InProject, identifier: string): Promise<RuntimeInputs> => {
    const { yaml, version } = await get(actor, scope, identifier);
    return { version, ...(await runJob(actor.accountId, "inputs", { yaml, scope: placeOf(scope) })) };
  };

export type GetRuntimeInputs = ReturnType<typeof getRuntimeInputs>;

type Given = { readonly references: readonly string[]; readonly last: PipelineText | undefined };

type ValidateDeps = Pick<PipelineDeps, "authorize"> & {
  readonly get: GetPipeline;
  readonly inputsOfSets: InputsOfSets;
  readonly prepareRun: PrepareRun;
};

export type InputFault = Fault & { readonly code: string };

/**
 * What a start with these inputs would refuse; starts nothing. Throws `access.not_permitted` for actors who may not
 * start the pipeline, and `pipeline.not_found`.
 */
export const validateInputs =
  (deps: ValidateDeps) =>
  async (actor: Actor, scope: InProject, identifier: string, given: Given): Promise<readonly InputFault[]> => {
    deps.authorize(actor, "core_pipeline_execute", { accountId: actor.accountId, ...placeOf(scope) }, identifier);
    await deps.get(actor, scope, identifier);
    try {
      const input = await deps.inputsOfSets(actor, scope, identifier, given.references, given.last);
      await deps.prepareRun(actor, scope, identifier, input, { trigger: null });
      return [];
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500 || error.status === 429) throw error;
      const faults = error.faults.length > 0 ? error.faults : [{ path: "", message: error.message }];
      return faults.map((fault) => ({ ...fault, code: error.wire }));
    }
  };

export type ValidateInputs = ReturnType<typeof validateInputs>;
