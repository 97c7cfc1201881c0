/** A pipeline of which a run takes single stages: the others are left out, as if it did not have them. */
import { bindScript, type Json, readsOf } from "../../engine/index.ts";
import { Problem } from "../../core/problem.ts";
import { type Path, pathText } from "../../platform/document/position/path.ts";
import { problem } from "./problems.ts";
import type { PipelineDocument, StageItem } from "./schema.ts";
import { secretOutputIn } from "./secret-outputs.ts";
import { type NodeField, valueFields } from "./texts.ts";
import { stagesIn, visitPipeline } from "./visit.ts";

/** `expressionValues`: values for what the stages read of the others, by expression, as `<+pipeline.stages.build.…>`. */
export type StageSelection = {
  readonly stages: readonly string[];
  readonly expressionValues: Readonly<Record<string, string>>;
};

/** What a path of the context is given. */
export type GivenValue = { readonly path: readonly string[]; readonly value: string };

/** Where the items of `stages`, and those of their parallel lists, stand in the whole document. */
export type StagePlaces = readonly { readonly at: number; readonly inside: readonly number[] }[];

export type SelectedStages = { readonly pipeline: PipelineDocument; readonly stagePlaces: StagePlaces };

/** Throws `pipeline.stages_not_allowed` and `pipeline.unknown_stages`. */
export function selectStages(pipeline: PipelineDocument, selected: readonly string[]): SelectedStages {
  if (pipeline.allowStageExecutions !== true) throw problem("pipeline.stages_not_allowed", [pipeline.identifier]);
  const known = new Set(identifiersOf(pipeline));
  const unknown = selected.filter((stage) => !known.has(stage));
  if (unknown.length > 0 || selected.length === 0)
    throw problem("pipeline.unknown_stages", [pipeline.identifier, unknown.join(", "), [...known].join(", ")]);
  const wanted = new Set(selected);
  const isWanted = ({ stage }: StageItem): boolean => stage !== undefined && wanted.has(stage.identifier);
  const stages: StageItem[] = [];
  const stagePlaces: { readonly at: number; readonly inside: readonly number[] }[] = [];
  for (const [at, item] of pipeline.stages.entries()) {
    const inside = (item.parallel ?? []).flatMap((one, nth) => (isWanted(one) ? [nth] : []));
    if (!isWanted(item) && inside.length === 0) continue;
    stages.push(item.parallel ? { ...item, parallel: item.parallel.filter(isWanted) } : item);
    stagePlaces.push({ at, inside });
  }
  return { pipeline: { ...pipeline, stages }, stagePlaces };
}

/** The path in the whole document of a path in the selected part. */
export function originalPath(places: StagePlaces | undefined, path: Path): Path {
  const [root, list, nth, field, inner, ...rest] = path;
  const found = list === "stages" && typeof nth === "number" ? places?.[nth] : undefined;
  if (!found || root === undefined || list === undefined) return path;
  const below = field === "parallel" && typeof inner === "number" ? (found.inside[inner] ?? inner) : inner;
  return [root, list, found.at, ...[field, below].flatMap((part) => part ?? []), ...rest];
}

const STAGE = /pipeline\.stages\[(\d+)\](?:\.parallel\[(\d+)\])?/g;

/** The same problem with the paths of the whole document. */
export function withOriginalPaths(places: StagePlaces | undefined, error: unknown): unknown {
  if (!places || !(error instanceof Problem)) return error;
  const rewritten = (text: string): string =>
    text.replaceAll(STAGE, (_, nth: string, inner: string | undefined) => {
      const path = ["pipeline", "stages", Number(nth), ...(inner === undefined ? [] : ["parallel", Number(inner)])];
      return pathText(originalPath(places, path));
    });
  const { code, status, wire, message, cause, refusal } = error;
  const faults = error.faults.map((fault) => ({ ...fault, path: rewritten(fault.path) }));
  return new Problem(code, status, wire, rewritten(message), { faults, cause, refusal });
}

/** Runs `work`, whose problems then name the paths of the whole document. */
export function inOriginalPaths<T>(places: StagePlaces | undefined, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw withOriginalPaths(places, error);
  }
}

export const identifiersOf = (pipeline: PipelineDocument): readonly string[] =>
  stagesIn(pipeline).map(({ document }) => document.identifier);

/** More than people write by hand. */
const MOST_VALUES = 256;
const MOST_CHARS = 16 * 1024;

type Parts = { readonly whole: PipelineDocument; readonly pipeline: PipelineDocument };

/**
 * The values for what these stages read of the others. Throws `pipeline.missing_expressions` for what has none, and
 * `pipeline.bad_expressions` for one that they do not read, or that is a secret: given values are stored and shown.
 */
export function givenValues(
  { whole, pipeline }: Parts,
  others: readonly string[],
  { expressionValues }: StageSelection,
): readonly GivenValue[] {
  const needed = readsOfOthers(pipeline, others);
  const given = Object.entries(expressionValues);
  if (given.length > MOST_VALUES) throw problem("pipeline.bad_expressions", [`at most ${MOST_VALUES} can be given`]);
  const values = given.map(([expression, value]): GivenValue => {
    const path = pathOf(expression);
    if (path === undefined || !needed.has(nameOf(path)))
      throw problem("pipeline.bad_expressions", [`'${clip(expression)}' is not what they read of other stages`]);
    if (secretOutputIn(visitPipeline(whole), path))
      throw problem("pipeline.bad_expressions", [`'${clip(expression)}' is a secret output: choose its stage, too`]);
    if (value.length > MOST_CHARS)
      throw problem("pipeline.bad_expressions", [
        `the value of ${clip(expression)} has more than ${MOST_CHARS} characters`,
      ]);
    return { path, value };
  });
  const there = new Set(values.map(({ path }) => nameOf(path)));
  const missing = [...needed.keys()].filter((name) => !there.has(name)).map((name) => `<+${name}>`);
  if (missing.length > 0) throw problem("pipeline.missing_expressions", [missing.join(", ")]);
  return values;
}

const clip = (text: string): string => text.slice(0, 200).toWellFormed();
const nameOf = (path: readonly (string | number)[]): string => path.join(".");

/** The path of an expression that is a path and nothing else. */
function pathOf(expression: string): readonly string[] | undefined {
  if (!/^<\+[^<>]+>$/.test(expression)) return undefined;
  try {
    const [read, second] = readsOf(expression);
    return read?.isAlone && !second ? read.path.map(String) : undefined;
  } catch {
    return undefined;
  }
}

export type StageChoice = {
  readonly identifier: string;
  readonly name: string;
  /** Other stages that it reads. */
  readonly required: readonly string[];
};

/** The stages that a run may take by themselves. */
export function stageChoices(pipeline: PipelineDocument): readonly StageChoice[] {
  if (pipeline.allowStageExecutions !== true) return [];
  const all = identifiersOf(pipeline);
  return stagesIn(pipeline).map(({ document: { identifier, name } }) => {
    const own = selectStages(pipeline, [identifier]).pipeline;
    const others = all.filter((one) => one !== identifier);
    return { identifier, name, required: [...new Set(readsOfOthers(own, others).values())] };
  });
}

/** What a pipeline reads below stages that it does not have: the stage by the name of the path. */
function readsOfOthers(pipeline: PipelineDocument, others: readonly string[]): ReadonlyMap<string, string> {
  const stages = new Set(others);
  const found = new Map<string, string>();
  for (const field of valueFields(pipeline))
    for (const path of readsIn(field)) {
      const stage = stageOf(path, stages);
      if (stage !== undefined) found.set(nameOf(path), stage);
    }
  return found;
}

/** `build_0` is an iteration of a stage that is repeated. */
function stageOf([root, list, stage]: readonly (string | number)[], stages: ReadonlySet<string>): string | undefined {
  if (root !== "pipeline" || list !== "stages" || stage === undefined) return undefined;
  return [String(stage), String(stage).replace(/(_\d+)+$/, "")].find((name) => stages.has(name));
}

function readsIn({ kind, value }: NodeField): readonly (readonly (string | number)[])[] {
  if (typeof value !== "string" || kind === "secret" || kind === "login") return [];
  const isCondition = kind === "condition";
  if (!isCondition && !value.includes("<+")) return [];
  const paths = (text: string) => readsOf(text, { isCondition }).map(({ path }) => path);
  if (kind !== "script") return paths(value);
  const bound = bindScript(value);
  return "faults" in bound ? [] : bound.bindings.flatMap(({ expression }) => paths(expression));
}

type JsonMap = { readonly [key: string]: Json };

/** The context with these values, as if the stages had left them. Nothing that is there already is copied but the way to it. */
export const withValues = (context: JsonMap, values: readonly GivenValue[]): JsonMap =>
  values.reduce<JsonMap>((all, { path, value }) => withValue(all, path, value), context);

function withValue(map: JsonMap, [key = "", ...rest]: readonly string[], value: string): JsonMap {
  if (rest.length === 0) return { ...map, [key]: value };
  const below = Object.hasOwn(map, key) ? map[key] : undefined;
  const inner = typeof below === "object" && below !== null && !Array.isArray(below) ? (below as JsonMap) : {};
  return { ...map, [key]: withValue(inner, rest, value) };
}
