import { stringify } from "yaml";
import { isMarker } from "./marker.ts";
import type { PipelineDocument } from "./schema.ts";

/**
 * The pipeline as YAML with its runtime inputs only, and what says where each
 * belongs: the form that a run takes its inputs in. Undefined when it has none.
 */
export function inputTemplate(pipeline: PipelineDocument): string | undefined {
  const pruned = prune(pipeline);
  return pruned === undefined ? undefined : stringify({ pipeline: pruned }, { lineWidth: 0 });
}

function prune(value: unknown): unknown {
  if (isMarker(value)) return value;
  if (Array.isArray(value)) return pruneList(value);
  if (typeof value !== "object" || value === null) return undefined;
  const kept = Object.entries(value).flatMap(([key, item]) => {
    const pruned = prune(item);
    return pruned === undefined ? [] : [[key, pruned] as const];
  });
  if (kept.length === 0) return undefined;
  return { ...identity(value as { readonly [key: string]: unknown }), ...Object.fromEntries(kept) };
}

/** Plain items are matched by their place, so a list of them is kept whole. */
function pruneList(list: readonly unknown[]): unknown {
  const kept = list.map(prune).filter((item) => item !== undefined);
  if (kept.length === 0) return undefined;
  return list.some((item) => typeof item === "object") ? kept : list;
}

function identity(map: { readonly [key: string]: unknown }): { readonly [key: string]: unknown } {
  const fields = "identifier" in map ? ["identifier", "type"] : ["name", "type"];
  return Object.fromEntries(
    fields.filter((field) => typeof map[field] === "string").map((field) => [field, map[field]]),
  );
}
