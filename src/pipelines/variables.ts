import type { PipelineDocument } from "./document/index.ts";
import { isMarker, readMarker } from "../steps/schema/marker.ts";

/** A variable of a pipeline as GraphQL shows it. */
export type PipelineVariable = {
  readonly name: string;
  readonly type: "Text" | "Number";
  /** Whether a run has to be given a value. */
  readonly required: boolean;
  readonly defaultValue: string | null;
  readonly allowedValues: readonly string[] | null;
  /** Whether the value stands in the pipeline, so that no run can give another. */
  readonly fixed: boolean;
};

export const variablesOf = (document: PipelineDocument): readonly PipelineVariable[] =>
  (document.variables ?? []).map(variableOf);

function variableOf(variable: NonNullable<PipelineDocument["variables"]>[number]): PipelineVariable {
  const { name, value } = variable;
  const type = variable.type === "Number" ? "Number" : "Text";
  const fixed = typeof value !== "string" || !isMarker(value);
  const marker = fixed ? {} : readMarker(value);
  if (fixed || "fault" in marker)
    return { name, type, required: false, defaultValue: String(value ?? ""), allowedValues: null, fixed: true };
  const fallback = marker.default ?? variable.default;
  const defaultValue = fallback === undefined || fallback === null ? null : String(fallback);
  return {
    name,
    type,
    required: defaultValue === null && variable.required !== false,
    defaultValue,
    allowedValues: marker.allowed ?? null,
    fixed: false,
  };
}
