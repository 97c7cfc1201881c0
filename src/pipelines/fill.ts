/** A pipeline with the inputs of a run in the places of its runtime inputs. */
import { pathText } from "../platform/document/position/path.ts";
import { chainPaths } from "./chained/place.ts";
import { type PipelineDocument, readPipeline, type ReadOptions } from "./document/index.ts";
import { referencesIn } from "./document/references.ts";
import { fillIn } from "./inputs.ts";
import type { InProject } from "./pipeline.ts";
import type { Place } from "./places.ts";
import { filledSecrets, type WrittenSecret } from "./secrets.ts";
import type { PipelineText } from "./text.ts";

export type Filled = {
  readonly document: PipelineDocument;
  /** The same as its author alone has it; see `fillIn`. */
  readonly authored: PipelineDocument;
  /** Where its references and what its stages give to other pipelines were written, by path text. */
  readonly places: ReadonlyMap<string, Place>;
  readonly secrets: readonly WrittenSecret[];
  /** Characters of the texts that it was read from. */
  readonly length: number;
};

export type ToFill = {
  readonly yaml: string;
  readonly scope: InProject;
  readonly input: PipelineText | undefined;
  /** Variables that get their value when the stage begins which runs the pipeline. */
  readonly late?: readonly string[];
};

export function fillPipeline({ yaml, scope, input, late = [] }: ToFill, { limits }: ReadOptions = {}): Filled {
  const { pipeline, doc } = readPipeline(yaml, scope, { limits });
  const filled = fillIn(pipeline, input?.text, { format: input?.format ?? "yaml", limits, late });
  const { pipeline: document, authored, givenAt, givenIn } = filled;
  // The documents themselves are large and are not kept.
  const places = new Map(
    [...referencesIn(document).map(({ path }) => path), ...chainPaths(document)].map((path) => {
      const given = givenAt(path);
      return [pathText(path), given ? { ...given, inInputs: true } : { ...doc.position(path), inInputs: false }];
    }),
  );
  const secrets = filledSecrets(document, givenIn, doc.positionIn);
  return { document, authored, secrets, places, length: yaml.length + (input?.text.length ?? 0) };
}
