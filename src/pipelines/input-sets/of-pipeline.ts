import type { PipelineDeps } from "../create.ts";
import type { InProject } from "../pipeline.ts";
import type { CheckSets } from "./faults.ts";

/** The pipeline that a set belongs to. */
export type OfPipeline = InProject & { readonly pipelineIdentifier: string };

export type InputSetDeps = PipelineDeps & { readonly check: CheckSets };
