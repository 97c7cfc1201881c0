/** A pipeline with the inputs of a run in the places of its runtime inputs. */
import { type Path, pathText } from "../platform/document/position/path.ts";
import { chainPaths } from "./chained/place.ts";
import { type PipelineDocument, readPipeline, type ReadOptions } from "./document/index.ts";
import { referencesIn } from "./document/references.ts";
import {
  givenValues,
  type GivenValue,
  identifiersOf,
  originalPath,
  selectStages,
  type StagePlaces,
  type StageSelection,
  withOriginalPaths,
} from "./document/select-stages.ts";
import { type Asks, fillIn } from "./inputs.ts";
import type { InProject } from "./pipeline.ts";
import type { Place } from "./places.ts";
import { filledSecrets, type WrittenSecret } from "./secrets.ts";
import type { PipelineText } from "./text.ts";

export type Filled = {
  readonly document: PipelineDocument;
  /** The same as its author alone has it; see `fillIn`. */
  readonly authored: PipelineDocument;
  readonly asks: Asks;
  /** Where its references and what its stages give to other pipelines were written, by path text. */
  readonly places: ReadonlyMap<string, Place>;
  readonly secrets: readonly WrittenSecret[];
  readonly allowStageExecutions: boolean;
  /** Of a run that takes single stages. */
  readonly selected: Selected | undefined;
  /** Characters of the texts that it was read from. */
  readonly length: number;
};

export type ToFill = {
  readonly yaml: string;
  readonly scope: InProject;
  readonly input: PipelineText | undefined;
  /** Variables that get their value when the stage begins which runs the pipeline. */
  readonly late?: readonly string[];
  readonly selection?: StageSelection | undefined;
};

/** In the order of the document. */
export type Selected = {
  readonly stages: readonly string[];
  readonly values: readonly GivenValue[];
  readonly stagePlaces: StagePlaces;
};

export function fillPipeline(
  { yaml, scope, input, late = [], selection }: ToFill,
  { limits }: ReadOptions = {},
): Filled {
  const { pipeline: whole, doc } = readPipeline(yaml, scope, { limits });
  const { pipeline, stagePlaces } = selection
    ? selectStages(whole, selection.stages)
    : { pipeline: whole, stagePlaces: undefined };
  const leftOut = stagePlaces ? identifiersOf(whole).filter((stage) => !identifiersOf(pipeline).includes(stage)) : [];
  const original = (path: Path): Path => originalPath(stagePlaces, path);
  try {
    const filled = fillIn(pipeline, input?.text, { format: input?.format ?? "yaml", limits, late, leftOut });
    const { pipeline: document, authored, asks, givenAt, givenIn } = filled;
    // The documents themselves are large and are not kept.
    const places = new Map(
      [...referencesIn(document).map(({ path }) => path), ...chainPaths(document)].map((path) => {
        const given = givenAt(path);
        const place = given ? { ...given, inInputs: true } : { ...doc.position(original(path)), inInputs: false };
        return [pathText(path), place];
      }),
    );
    const secrets = filledSecrets(document, givenIn, (path, offset) => doc.positionIn(original(path), offset));
    return {
      ...{ document, authored, asks, secrets, places, length: yaml.length + (input?.text.length ?? 0) },
      allowStageExecutions: whole.allowStageExecutions === true,
      selected: selection &&
        stagePlaces && {
          ...{ stagePlaces, stages: identifiersOf(document) },
          values: givenValues({ whole, pipeline: document }, leftOut, selection),
        },
    };
  } catch (error) {
    throw withOriginalPaths(stagePlaces, error);
  }
}
