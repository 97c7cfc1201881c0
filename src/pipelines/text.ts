import type { PipelineDocument } from "./document/index.ts";
import { stagesIn } from "./document/visit.ts";

/** A document as it was sent. */
export type PipelineText = { readonly text: string; readonly format: "yaml" | "json" };

/** Kept as it was sent; JSON is laid out anew, as only then every YAML parser reads it too. */
export const keptText = ({ text, format }: PipelineText): string =>
  format === "json" ? `${JSON.stringify(JSON.parse(text), null, 2)}\n` : text;

export const stageNamesOf = (document: PipelineDocument): readonly string[] =>
  stagesIn(document).map((stage) => stage.document.name);
