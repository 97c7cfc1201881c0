/** What input sets give a pipeline. */
import { setImmediate } from "node:timers/promises";
import { type Fault, Problem } from "../../core/problem.ts";
import { type Format, parseDocument } from "../../platform/document/document.ts";
import { isTooLarge } from "../../platform/document/problems.ts";
import { readPipeline, type ReadOptions } from "../document/index.ts";
import type { Reference } from "../document/references.ts";
import { givenInputs, inputTemplate, withInputs, type GivenInputs } from "../inputs.ts";
import type { InProject } from "../pipeline.ts";
import type { WrittenSecret } from "../secrets.ts";
import type { PipelineText } from "../text.ts";
import { givenReferences, savedValues, secretsOfSet, valuesOf } from "./document.ts";
import type { InputSetWithYaml, SetFault } from "./input-set.ts";

type OfPipeline = { readonly pipelineYaml: string; readonly scope: InProject };

/** What a set names that is to be saved or adopted. */
export type SetUses = {
  readonly secrets: readonly WrittenSecret[];
  readonly references: readonly Pick<Reference, "kind" | "path" | "value">[];
};

type OneSet = OfPipeline & { readonly text: string; readonly format: Format };

/** Throws what `valuesOf` throws. */
export function usesOfSet({ pipelineYaml, scope, text, format }: OneSet, options: ReadOptions): SetUses {
  const { pipeline } = readPipeline(pipelineYaml, scope, { limits: options.limits });
  const doc = parseDocument(text, { format });
  valuesOf(pipeline, doc);
  const references = givenReferences(pipeline, doc).map(({ kind, path, value }) => ({ kind, path, value }));
  return { secrets: secretsOfSet(pipeline, doc), references };
}

type SavedSets = OfPipeline & { readonly sets: readonly Pick<InputSetWithYaml, "yaml">[] };

/** What a pipeline has against each set: the faults of the pipeline itself where this release refuses it. */
export async function faultsOfSets(
  { pipelineYaml, scope, sets }: SavedSets,
  options: ReadOptions,
): Promise<readonly (readonly Fault[])[]> {
  let pipeline: ReturnType<typeof readPipeline>["pipeline"] | undefined;
  const ofPipeline = faultsIn(() => {
    pipeline = readPipeline(pipelineYaml, scope, { limits: options.limits }).pipeline;
  });
  const found: (readonly Fault[])[] = [];
  for (const set of sets) {
    // A long list of long documents does not hold up others.
    await setImmediate();
    const document = pipeline;
    found.push(document ? faultsIn(() => void savedValues(document, set)) : ofPipeline);
  }
  return found;
}

type ToMerge = OfPipeline & {
  readonly sets: readonly Pick<InputSetWithYaml, "identifier" | "yaml">[];
  readonly last: PipelineText | undefined;
  /** Whether the whole pipeline is wanted. */
  readonly isComplete: boolean;
};

export type Merged = {
  /** The runtime inputs with the values; null when the pipeline has none. */
  readonly yaml: string | null;
  /** The whole pipeline with the values. */
  readonly complete: string | null;
  /** What does not fit the pipeline any more; then no set counts. */
  readonly faults: readonly SetFault[];
};

export async function mergeSets(
  { pipelineYaml, scope, sets, last, isComplete }: ToMerge,
  options: ReadOptions,
): Promise<Merged> {
  const { pipeline: document, doc } = readPipeline(pipelineYaml, scope, { limits: options.limits });
  const values = new Map<string, unknown>();
  const take = (given: GivenInputs): void => {
    for (const [path, value] of given) values.set(path, value);
  };
  const faults: SetFault[] = [];
  for (const set of sets) {
    await setImmediate();
    const found = faultsIn(() => take(savedValues(document, set)));
    faults.push(...found.map((fault) => ({ ...fault, inputSet: set.identifier })));
  }
  if (last && last.text.trim() !== "") take(givenInputs(document, parseDocument(last.text, { format: last.format })));
  const whole = (doc.value as { readonly pipeline: unknown }).pipeline;
  return {
    yaml: inputTemplate(document, values) ?? null,
    complete: isComplete && faults.length === 0 ? withInputs(whole, values) : null,
    faults,
  };
}

function faultsIn(work: () => void): readonly Fault[] {
  try {
    work();
    return [];
  } catch (error) {
    if (!(error instanceof Problem) || isTooLarge(error)) throw error;
    return error.faults.length > 0 ? error.faults : [{ path: "pipeline", message: error.message }];
  }
}
