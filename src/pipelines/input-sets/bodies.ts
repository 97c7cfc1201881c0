/** Bodies that name input sets: what is merged, and what a run is given. */
import { z } from "zod";
import { envelopeOf, type EnvelopeCall } from "../../platform/http/request/bodies.ts";
import { problem } from "../problems.ts";
import type { PipelineText } from "../text.ts";
import { references } from "./document.ts";

const stages = z
  .array(z.string().max(128))
  .max(1_000)
  .nullish()
  .describe("Must be empty: choosing stages is not supported yet.");

export const templateBody = z.strictObject({ stageIdentifiers: stages });

export const setsBody = z.strictObject({
  inputSetReferences: references.nullish(),
  withMergedPipelineYaml: z.boolean().nullish(),
  stageIdentifiers: stages,
  lastYamlToMerge: z.string().nullish().describe("Runtime inputs as YAML, over those of the sets."),
});

export const setsWithInputsBody = setsBody
  .omit({ lastYamlToMerge: true })
  .extend({ runtimeInputYaml: z.string().nullish().describe("Runtime inputs as YAML, over those of the sets.") });

/** Which sets, in which order, and what goes over them. */
export type ChosenSets = {
  readonly references: readonly string[];
  readonly last: PipelineText | undefined;
  readonly withPipeline: boolean;
};

/** Throws the problems of documents, and `input_set.stages`. Nothing at all names no sets. */
export function chosenSets(call: EnvelopeCall): ChosenSets {
  if (call.body.bytes.length === 0) return chosen({}, undefined);
  const said = envelopeOf(call, setsBody);
  return chosen(said, said.lastYamlToMerge);
}

/** The same with `runtimeInputYaml`. */
export function chosenSetsWithInputs(call: EnvelopeCall): ChosenSets {
  const said = envelopeOf(call, setsWithInputsBody);
  return chosen(said, said.runtimeInputYaml);
}

type Said = Omit<z.output<typeof setsBody>, "lastYamlToMerge">;

function chosen(said: Said, last: string | null | undefined): ChosenSets {
  requireNoStages(said.stageIdentifiers);
  return {
    references: said.inputSetReferences ?? [],
    last: last == null || last.trim() === "" ? undefined : { text: last, format: "yaml" },
    withPipeline: said.withMergedPipelineYaml ?? false,
  };
}

export function requireNoStages(stageIdentifiers: readonly string[] | null | undefined): void {
  if (stageIdentifiers?.length) throw problem("input_set.stages");
}
