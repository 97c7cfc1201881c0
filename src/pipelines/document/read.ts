import { type Fault, Problem } from "../../core/problem.ts";
import { type Doc, type Format, parseDocument } from "../../platform/document/document.ts";
import type { Limits } from "../../platform/document/limits.ts";
import { faultOf, documentProblem, validate } from "../../platform/document/validate.ts";
import { faultsOf } from "./check.ts";
import { withPlaces } from "./fault-places.ts";
import { PIPELINE_LIMITS } from "./limits.ts";
import { problem } from "./problems.ts";
import { type PipelineDocument, pipelineSchema } from "./schema.ts";

/** Where the request says the pipeline belongs. */
export type PipelineScope = { readonly orgIdentifier: string; readonly projectIdentifier: string };

/** `limits`: `PIPELINE_LIMITS` unless told otherwise. */
export type ReadOptions = { readonly format?: Format; readonly limits?: Limits | undefined };

export type ReadPipeline = {
  /** What stands under `pipeline`, checked, as it is written: runtime inputs and expressions included. */
  readonly pipeline: PipelineDocument;
  readonly doc: Doc;
};

/**
 * Reads and checks a pipeline as it is to be saved. Throws a Problem, 400, with
 * line and column: those of `parseDocument`, `document.invalid`
 * (SCHEMA_VALIDATION_FAILED) for everything that the pipeline language does not
 * allow, `pipeline.other_scope` (INVALID_REQUEST) when the document names another
 * organization or project than the request.
 */
export function readPipeline(
  input: string,
  scope: PipelineScope,
  { format = "yaml", limits = PIPELINE_LIMITS }: ReadOptions = {},
): ReadPipeline {
  const doc = parseDocument(input, { ...limits, format });
  const pipeline = withPlaces(doc.value, () => {
    const read = validate(pipelineSchema("saved"), doc, { root: "pipeline" });
    const faults = faultsOf(read, doc, "saved");
    if (faults.length > 0) throw documentProblem(faults);
    return read;
  });
  const { orgIdentifier, projectIdentifier } = scope;
  sameScope(pipeline, doc, "pipeline", { orgIdentifier, projectIdentifier });
  return { pipeline, doc };
}

/** What can be said of a document that need not be complete. */
export type InspectedPipeline = {
  readonly doc: Doc;
  /** Undefined where the document has not the shape of a pipeline. */
  readonly pipeline: PipelineDocument | undefined;
  readonly faults: readonly Fault[];
};

/** The faults of all that `readPipeline` refuses. Throws the problems of `parseDocument`. */
export function inspectPipeline(
  input: string,
  scope: PipelineScope,
  { format = "yaml", limits = PIPELINE_LIMITS }: ReadOptions = {},
): InspectedPipeline {
  const doc = parseDocument(input, { ...limits, format });
  let pipeline: PipelineDocument | undefined;
  const faults: Fault[] = [];
  const collect = (work: () => void): void => {
    try {
      withPlaces(doc.value, work);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      faults.push(...error.faults);
    }
  };
  collect(() => {
    pipeline = validate(pipelineSchema("saved"), doc, { root: "pipeline" });
  });
  const read = pipeline;
  if (read === undefined) return { doc, pipeline: undefined, faults };
  collect(() => {
    const found = faultsOf(read, doc, "saved");
    if (found.length > 0) throw documentProblem(found);
  });
  const { orgIdentifier, projectIdentifier } = scope;
  collect(() => sameScope(read, doc, "pipeline", { orgIdentifier, projectIdentifier }));
  return { doc, pipeline: read, faults };
}

/** Throws `pipeline.other_scope` when what stands under `root` names another scope than the request. */
export function sameScope(
  said: Readonly<Record<string, unknown>>,
  doc: Doc,
  root: string,
  scope: Readonly<Record<string, string>>,
): void {
  const faults = Object.entries(scope)
    .filter(([field, wanted]) => (said[field] ?? wanted) !== wanted)
    .map(([field, wanted]) =>
      faultOf(doc, [root, field], `'${String(said[field])}' is not the ${field} of the request, '${wanted}'`),
    );
  if (faults.length === 0) return;
  throw problem("pipeline.other_scope", [faults.map((fault) => `${fault.path}: ${fault.message}`).join("; ")], {
    faults,
  });
}
