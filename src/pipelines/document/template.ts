import { writeYaml } from "../../platform/document/write.ts";
import { type Path, pathText } from "../../platform/document/position/path.ts";
import { isAskedMarker, isMarker } from "../../steps/schema/marker.ts";
import type { PipelineDocument } from "./schema.ts";

type Values = ReadonlyMap<string, unknown>;

/**
 * The pipeline as YAML with its runtime inputs only, and what says where each
 * belongs: the form that a run takes its inputs in. Undefined when it has none.
 * `values`, by path in the pipeline, stand in place of the inputs that they are for.
 */
export function inputTemplate(pipeline: PipelineDocument, values: Values = new Map()): string | undefined {
  const template = pruned(pipeline, {
    ...{ path: ["pipeline"], at: ["pipeline"] },
    keep: (_path, _at, _owner, value) => isMarker(value) && !isAskedMarker(value),
    valueAt: (path, marker) => valueAt(path, marker, values),
  });
  return template === undefined ? undefined : written(template);
}

/** A template with values in their places, by path in it. */
export const withSubmitted = (template: unknown, values: Values): string => writeYaml(filled(template, [], values));

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

type Owner = { readonly [key: string]: unknown };

type Pruning = {
  /** Where the value stands in the document, and in what is left of it. */
  readonly path: Path;
  readonly at: Path;
  readonly keep: (path: Path, at: Path, owner: Owner, value: unknown) => boolean;
  /** What stands in place of a value that is kept. */
  readonly valueAt?: (path: Path, value: unknown) => unknown;
};

/** The values that are kept, with what says where each belongs; undefined if there are none. */
export function pruned(value: unknown, pruning: Pruning, owner: Owner = {}): unknown {
  const { path, at, keep, valueAt: replace } = pruning;
  if (Array.isArray(value)) return prunedList(value, pruning);
  if (typeof value !== "object" || value === null) {
    if (!keep(path, at, owner, value)) return undefined;
    return replace ? replace(path, value) : value;
  }
  const map = value as Owner;
  const kept = Object.entries(map).flatMap(([key, item]) => {
    const below = pruned(item, { ...pruning, path: [...path, key], at: [...at, key] }, map);
    return below === undefined ? [] : [[key, below] as const];
  });
  return kept.length === 0 ? undefined : { ...identity(map), ...Object.fromEntries(kept) };
}

/** Plain items are matched by their place, so a list of them is kept whole. */
function prunedList(list: readonly unknown[], pruning: Pruning): unknown {
  const { path, at } = pruning;
  const isPlain = list.every((item) => typeof item !== "object");
  const kept: unknown[] = [];
  const all = list.map((item, index) => {
    const place = { path: [...path, index], at: [...at, isPlain ? index : kept.length] };
    const below = pruned(item, { ...pruning, ...place });
    if (below !== undefined) kept.push(below);
    return below;
  });
  if (kept.length === 0) return undefined;
  return isPlain ? list.map((item, index) => all[index] ?? item) : kept;
}

function identity(map: { readonly [key: string]: unknown }): { readonly [key: string]: unknown } {
  const fields = "identifier" in map ? ["identifier", "type"] : ["name", "type"];
  return Object.fromEntries(
    fields.filter((field) => typeof map[field] === "string").map((field) => [field, map[field]]),
  );
}
