import type { PipelineDocument } from "./document/index.ts";
import { PIPELINE_LIMITS } from "./document/limits.ts";
import { stagesIn } from "./document/visit.ts";
import type { InProject } from "./pipeline.ts";

/** Bytes of a request that has a pipeline. */
export const PIPELINE_BODY = PIPELINE_LIMITS.maxBytes;

/** A document as it was sent. */
export type PipelineText = { readonly text: string; readonly format: "yaml" | "json" };

/** One that is to be saved. `check` may refuse what it says before anything else is asked. */
export type SentPipeline = PipelineText & {
  readonly check?: (document: PipelineDocument) => void;
  /** The version that has this text, when it is to be the newest again. */
  readonly restored?: number;
};

export const toRead = ({ text, format }: PipelineText, scope: InProject) => ({ text, format, scope });

/** Kept as it was sent; JSON is laid out anew, as only then every YAML parser reads it too. */
export const keptText = ({ text, format }: PipelineText): string =>
  format === "json" ? `${JSON.stringify(JSON.parse(text), null, 2)}\n` : text;

export const stageNamesOf = (document: PipelineDocument): readonly string[] =>
  stagesIn(document).map((stage) => stage.document.name);
