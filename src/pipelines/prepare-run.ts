import type { Actor } from "../core/actor.ts";
import type { Uuid } from "../core/ids.ts";
import { makeLru } from "../core/lru.ts";
import type { Plan } from "../engine/index.ts";
import { readPipeline, type PipelineDocument } from "./document/index.ts";
import type { GetPipeline } from "./get.ts";
import { mergeInputs } from "./inputs.ts";
import type { InProject } from "./pipeline.ts";
import { buildPlan, type Facts } from "./plan.ts";

/** A pipeline with its inputs filled in; only the facts of one run are missing. */
export type PreparedRun = {
  readonly pipelineId: Uuid;
  readonly projectId: Uuid;
  readonly version: number;
  readonly name: string;
  readonly projectName: string;
  /** Pure but for `newId`, which names the nodes. Throws `pipeline.unresolved_variable`. */
  readonly plan: (facts: Facts, newId: () => string) => Plan;
};

/**
 * Reads the newest version and fills in the inputs, given as YAML or JSON text.
 * Throws `pipeline.not_found` and the problems of inputs: a missing one is named by its path.
 */
export type PrepareRun = (
  actor: Actor,
  scope: InProject,
  identifier: string,
  input: { text: string; format: "yaml" | "json" } | undefined,
) => Promise<PreparedRun>;

/** Documents kept; one with its inputs has some ten kilobytes. */
const KEPT = 200;

export function makePrepareRun(deps: { get: GetPipeline }): PrepareRun {
  // A version never changes and merging is pure, so one reading serves every run with the same inputs.
  const kept = makeLru<string, PipelineDocument>(KEPT);

  function merged(key: string, read: () => PipelineDocument): PipelineDocument {
    const document = kept.get(key) ?? read();
    kept.set(key, document);
    return document;
  }

  return async (actor, scope, identifier, input) => {
    const pipeline = await deps.get(actor, scope, identifier);
    const key = `${pipeline.id} ${pipeline.version} ${input?.format ?? ""} ${input?.text ?? ""}`;
    const document = merged(key, () => {
      const saved = readPipeline(pipeline.yaml, scope).pipeline;
      return mergeInputs(saved, input?.text, { format: input?.format ?? "yaml" });
    });
    return {
      pipelineId: pipeline.id,
      projectId: pipeline.projectId,
      version: pipeline.version,
      name: pipeline.name,
      projectName: pipeline.projectName,
      plan: (facts, newId) => buildPlan(document, facts, newId),
    };
  };
}
