import { writeYaml } from "../../platform/document/write.ts";
import { type Path, pathText } from "../../platform/document/position/path.ts";
import { isMarker } from "../../steps/schema/marker.ts";
import type { PipelineDocument } from "./schema.ts";

type Values = ReadonlyMap<string, unknown>;

/**
 * The pipeline as YAML with its runtime inputs only, and what says where each
 * belongs: the form that a run takes its inputs in. Undefined when it has none.
 * `values`, by path in the pipeline, stand in place of the inputs that they are for.
 */
export function inputTemplate(pipeline: PipelineDocument, values: Values = new Map()): string | undefined {
  const pruned = prune(pipeline, ["pipeline"], values);
  return pruned === undefined ? undefined : written(pruned);
}

/** The whole pipeline as YAML, with the same values in their places. */
export const withInputs = (pipeline: unknown, values: Values): string =>
  written(filled(pipeline, ["pipeline"], values));

const written = (pipeline: unknown): string => writeYaml({ pipeline });

const valueAt = (path: Path, marker: unknown, values: Values): unknown => {
  const text = pathText(path);
  return values.has(text) ? values.get(text) : marker;
};

function filled(value: unknown, path: Path, values: Values): unknown {
  if (isMarker(value)) return valueAt(path, value, values);
  if (Array.isArray(value)) return value.map((item, index) => filled(item, [...path, index], values));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, filled(item, [...path, key], values)]));
}

function prune(value: unknown, path: Path, values: Values): unknown {
  if (isMarker(value)) return valueAt(path, value, values);
  if (Array.isArray(value)) return pruneList(value, path, values);
  if (typeof value !== "object" || value === null) return undefined;
  const kept = Object.entries(value).flatMap(([key, item]) => {
    const pruned = prune(item, [...path, key], values);
    return pruned === undefined ? [] : [[key, pruned] as const];
  });
  if (kept.length === 0) return undefined;
  return { ...identity(value as { readonly [key: string]: unknown }), ...Object.fromEntries(kept) };
}

/** Plain items are matched by their place, so a list of them is kept whole. */
function pruneList(list: readonly unknown[], path: Path, values: Values): unknown {
  const pruned = list.map((item, index) => prune(item, [...path, index], values));
  const kept = pruned.filter((item) => item !== undefined);
  if (kept.length === 0) return undefined;
  if (list.some((item) => typeof item === "object")) return kept;
  return list.map((item, index) => pruned[index] ?? item);
}

function identity(map: { readonly [key: string]: unknown }): { readonly [key: string]: unknown } {
  const fields = "identifier" in map ? ["identifier", "type"] : ["name", "type"];
  return Object.fromEntries(
    fields.filter((field) => typeof map[field] === "string").map((field) => [field, map[field]]),
  );
}
