/**
 * What is computed from whole pipeline documents. Pure: it runs in a worker as well as in the server, and its arguments
 * and results are plain data.
 */
import { type Format, parseDocument } from "../../platform/document/document.ts";
import type { Limits } from "../../platform/document/limits.ts";
import type { Position } from "../../platform/document/position/lines.ts";
import { pathText } from "../../platform/document/position/path.ts";
import { type Tags, withTags } from "../../platform/document/tags.ts";
import type { Locate } from "../bash-syntax.ts";
import { type PipelineDocument, readPipeline } from "../document/index.ts";
import { referencesIn } from "../document/references.ts";
import { type StageChoice, stageChoices } from "../document/select-stages.ts";
import { type Filled, fillPipeline, type ToFill } from "../fill.ts";
import { inputTemplate } from "../inputs.ts";
import { faultsOfSets, mergeSets, usesOfSet } from "../input-sets/values.ts";
import type { InProject } from "../pipeline.ts";
import type { Place } from "../places.ts";
import { writtenSecrets, type WrittenSecret } from "../secrets.ts";

type Saved = { readonly yaml: string; readonly scope: InProject };

export type ReadDocument = {
  readonly document: PipelineDocument;
  readonly secrets: readonly WrittenSecret[];
  /** Where its identifier and its references stand, by path text. */
  readonly places: ReadonlyMap<string, Place>;
};

type Sent = { readonly text: string; readonly format: Format };

/** What a job may read: less where it runs in the server's own thread. */
export type JobOptions = { readonly limits: Limits };

function read({ text, format, scope }: Sent & { readonly scope: InProject }, { limits }: JobOptions): ReadDocument {
  const { pipeline: document, doc } = readPipeline(text, scope, { format, limits });
  const paths = [["pipeline", "identifier"], ...referencesIn(document).map(({ path }) => path)];
  const places = new Map(paths.map((path) => [pathText(path), { ...doc.position(path), inInputs: false }]));
  return { document, secrets: writtenSecrets(document, doc.positionIn), places };
}

type ToLocate = Sent & { readonly places: Parameters<Locate>[0] };

function locate({ text, format, places }: ToLocate, { limits }: JobOptions): readonly (Position | undefined)[] {
  const doc = parseDocument(text, { ...limits, format });
  return places.map(({ path, offset }) => doc.positionIn(path, offset));
}

const template = ({ yaml, scope }: Saved, { limits }: JobOptions): string | null =>
  inputTemplate(readPipeline(yaml, scope, { limits }).pipeline) ?? null;

const choices = ({ yaml, scope }: Saved, { limits }: JobOptions): readonly StageChoice[] =>
  stageChoices(readPipeline(yaml, scope, { limits }).pipeline);

type Tagged = { readonly yaml: string; readonly tags: Tags };

function setTags({ yaml, tags }: Tagged, { limits }: JobOptions): string {
  // Refused where it is too large for this thread.
  parseDocument(yaml, limits);
  return withTags(yaml, "pipeline", tags);
}

export const jobs = {
  read,
  locate,
  template,
  stageChoices: choices,
  setTags,
  fillIn: (toFill: ToFill, options: JobOptions): Filled => fillPipeline(toFill, options),
  usesOfSet,
  faultsOfSets,
  mergeSets,
} as const;

export type JobName = keyof typeof jobs;
export type Asked<N extends JobName> = Parameters<(typeof jobs)[N]>[0];
export type Result<N extends JobName> = Awaited<ReturnType<(typeof jobs)[N]>>;
