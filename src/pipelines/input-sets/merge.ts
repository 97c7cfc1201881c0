/** Several input sets made one: the inputs of a run. */
import type { Actor } from "../../core/actor.ts";
import type { Uuid } from "../../core/ids.ts";
import { createLru } from "../../platform/lru.ts";
import type { Principal } from "../principal.ts";
import { clip } from "../../platform/document/position/path.ts";
import { requirePipeline } from "../get.ts";
import { placeOf, type InProject, type SavedPipeline } from "../pipeline.ts";
import { problem } from "../problems.ts";
import { findNamed } from "../store/input-sets.ts";
import type { PipelineText } from "../text.ts";
import { MAX_REFERENCES } from "./document.ts";
import type { InputSetWithYaml } from "./input-set.ts";
import type { InputSetDeps, OfPipeline } from "./of-pipeline.ts";
import type { Merged } from "./values.ts";

// 1. Put the input sets that an overlay lists in its place. Of one that is named twice the last place counts.
// 2. Take the values of each, in order: of two values for one runtime input the later wins.
// 3. Write the pipeline's runtime inputs with these values in their places; what nobody gave stays open.

/** Input sets that are merged at a time, those that overlays list included, and the bytes of all their documents. */
const MAX_SETS = 40;
const MAX_BYTES = 512 * 1024;
/** Bytes of merged inputs that are kept: a busy webhook should not read the same documents at every call. */
const KEPT_BYTES = 4 * 1024 * 1024;

/** What of a set counts when it is merged. */
export type SetText = Pick<InputSetWithYaml, "identifier" | "kind" | "references" | "yaml">;

/**
 * Merges input sets and overlays in the order given, and `last` over them. Throws `pipeline.not_found`,
 * `input_set.unknown`, `input_set.too_much`, and the problems of inputs for `last`.
 */
export type MergeInputSets = (
  actor: Actor,
  within: OfPipeline,
  references: readonly string[],
  options: { readonly last: PipelineText | undefined; readonly isComplete: boolean },
) => Promise<Merged>;

export const makeMergeInputSets =
  (deps: InputSetDeps): MergeInputSets =>
  async (actor, within, references, options) => {
    const scope = { accountId: actor.accountId, ...placeOf(within) };
    requireSets(deps, actor, within, references);
    // The answer may have the whole pipeline.
    deps.authorize(actor, "core_pipeline_view", scope, within.pipelineIdentifier);
    const { pipeline, sets } = await found(deps, actor, within, references);
    return deps.runJob(actor.accountId, "mergeSets", { ...toMerge(pipeline, within, sets), ...options });
  };

/** Inputs, and the authors of the sets and overlays that they come from. */
export type RunInputs = PipelineText & { readonly principals?: readonly Principal[] };

/**
 * The inputs of a run: those of the sets, and `last` over them. Without sets `last` is answered as it is. Throws what
 * merging throws, and `input_set.outdated`.
 */
export type InputsOfSets = (
  actor: Actor,
  scope: InProject,
  pipelineIdentifier: string,
  references: readonly string[],
  last: PipelineText | undefined,
) => Promise<RunInputs | undefined>;

export function makeInputsOfSets(deps: InputSetDeps): InputsOfSets {
  const kept = createLru<string, string>(KEPT_BYTES, (key, text) => key.length + text.length);

  return async (actor, scope, pipelineIdentifier, references, last) => {
    if (references.length === 0) return last;
    const within = { ...placeOf(scope), pipelineIdentifier };
    requireSets(deps, actor, within, references);
    const { pipeline, sets, principals } = await found(deps, actor, within, references);
    const key = keyOf(pipeline, sets, last);
    const asked = { ...toMerge(pipeline, within, sets), last: last && plainText(last), isComplete: false };
    const text = kept.get(key) ?? textOf(await deps.runJob(actor.accountId, "mergeSets", asked));
    kept.set(key, text);
    return text === "" ? undefined : { text, format: "yaml", principals };
  };
}

/** Each that is named has to be for the actor's eyes. */
function requireSets(deps: InputSetDeps, actor: Actor, within: OfPipeline, references: readonly string[]): void {
  const scope = { accountId: actor.accountId, ...placeOf(within) };
  if (references.length === 0) deps.authorize(actor, "core_inputset_view", scope);
  for (const reference of references) deps.authorize(actor, "core_inputset_view", scope, reference);
}

/** Versions never change and merging is pure. */
const keyOf = (pipeline: SavedPipeline, sets: readonly InputSetWithYaml[], last: PipelineText | undefined): string =>
  JSON.stringify([pipeline.id, pipeline.version, sets.map(({ id, version }) => [id, version]), last ?? null]);

const toMerge = (pipeline: SavedPipeline, within: OfPipeline, sets: readonly SetText[]) => ({
  pipelineYaml: pipeline.yaml,
  scope: placeOf(within),
  sets: sets.map(({ identifier, yaml }) => ({ identifier, yaml })),
});

const plainText = ({ text, format }: PipelineText): PipelineText => ({ text, format });

function textOf({ yaml, faults }: Merged): string {
  if (faults.length === 0) return yaml ?? "";
  const texts = faults.map(({ inputSet, path, message }) => `${inputSet}: ${path}: ${message}`);
  throw problem("input_set.outdated", [texts.join("; ")], { faults });
}

/** The pipeline, and the input sets that the references stand for. */
async function found(
  deps: InputSetDeps,
  actor: Actor,
  within: OfPipeline,
  references: readonly string[],
): Promise<{
  readonly pipeline: SavedPipeline;
  readonly sets: readonly InputSetWithYaml[];
  readonly principals: readonly Principal[];
}> {
  const pipeline = await requirePipeline(deps, actor, within, within.pipelineIdentifier);
  if (references.length === 0) return { pipeline, sets: [], principals: [] };
  if (references.length > MAX_REFERENCES) throw tooMuch(`${MAX_REFERENCES} references`);
  const rows = await rowsOf(deps, actor.accountId, pipeline, references);
  const principals = rows.map(({ identifier, version, author }) => ({
    author,
    authored: { type: "input_set" as const, identifier, version },
  }));
  return { pipeline, sets: inOrder(pipeline, rows, references), principals };
}

/** Those that are named, and those that overlays among them list. */
async function rowsOf(
  { db }: Pick<InputSetDeps, "db">,
  accountId: Uuid,
  pipeline: SavedPipeline,
  references: readonly string[],
): Promise<readonly InputSetWithYaml[]> {
  const most = MAX_SETS + MAX_REFERENCES;
  const rows = await findNamed(db, accountId, pipeline.id, references, most + 1);
  if (rows.length > most) throw tooMuch(`${MAX_SETS} input sets`);
  return rows;
}

/** The input sets that the references stand for, in the order in which they count. */
function inOrder<Set extends SetText>(
  pipeline: SavedPipeline,
  rows: readonly Set[],
  references: readonly string[],
): readonly Set[] {
  const byName = new Map(rows.map((row) => [row.identifier, row]));
  const missing = references.filter((name) => !byName.has(name));
  if (missing.length > 0) throw problem("input_set.unknown", [pipeline.identifier, missing.map(clip).join(", ")]);
  const names = references.flatMap((name) => {
    const row = byName.get(name);
    return row?.kind === "OVERLAY_INPUT_SET" ? row.references : [name];
  });
  const once = names.filter((name, index) => names.lastIndexOf(name) === index);
  const sets = once.flatMap((name) => byName.get(name) ?? []);
  if (sets.length > MAX_SETS) throw tooMuch(`${MAX_SETS} input sets`);
  if (sets.reduce((sum, { yaml }) => sum + yaml.length, 0) > MAX_BYTES) throw tooMuch("512 KiB of documents");
  return sets;
}

const tooMuch = (most: string): Error => problem("input_set.too_much", [most]);
