/**
 * What is computed from whole pipeline documents. Pure: it runs in a worker as well as in the server, and its arguments
 * and results are plain data.
 */
import type { Fault } from "../../core/problem.ts";
import { type Doc, type Format, parseDocument } from "../../platform/document/document.ts";
import type { Limits } from "../../platform/document/limits.ts";
import type { Position } from "../../platform/document/position/lines.ts";
import { type Path, pathText } from "../../platform/document/position/path.ts";
import { type Tags, withTags } from "../../platform/document/tags.ts";
import type { Locate } from "../bash-syntax.ts";
import { chainedPipelinePaths } from "../chained/place.ts";
import { type PipelineDocument, readPipeline } from "../document/index.ts";
import { inputFields, type InputField } from "../document/input-fields.ts";
import { inspectPipeline } from "../document/read.ts";
import { planView, type PlanView } from "../editing/plan-view.ts";
import { referencesIn } from "../document/references.ts";
import { type StageChoice, stageChoices } from "../document/select-stages.ts";
import { type Filled, fillPipeline, type ToFill } from "../fill.ts";
import { inputTemplate } from "../inputs.ts";
import { faultsOfSets, mergeSets, usesOfSet } from "../input-sets/values.ts";
import type { InProject } from "../pipeline.ts";
import type { Place } from "../places.ts";
import { writtenSecrets, type WrittenSecret } from "../secrets.ts";

type Saved = { readonly yaml: string; readonly scope: InProject };

/** Of a document that need not be complete. */
export type CheckedDocument = {
  readonly faults: readonly Fault[];
  /** Undefined where the document has not the shape of a pipeline. */
  readonly read: (ReadDocument & { readonly plan: PlanView; readonly inputs: readonly InputField[] }) | undefined;
};

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
  const { pipeline, doc } = readPipeline(text, scope, { format, limits });
  return readDocument(pipeline, doc, []);
}

function readDocument(document: PipelineDocument, doc: Doc, more: readonly Path[]): ReadDocument {
  const paths = [["pipeline", "identifier"], ...referencesIn(document).map(({ path }) => path), ...more];
  const places = new Map(paths.map((path) => [pathText(path), { ...doc.position(path), inInputs: false }]));
  return { document, secrets: writtenSecrets(document, doc.positionIn), places };
}

function check({ text, format, scope }: Sent & { readonly scope: InProject }, { limits }: JobOptions): CheckedDocument {
  const { pipeline, doc, faults } = inspectPipeline(text, scope, { format, limits });
  if (!pipeline) return { faults, read: undefined };
  const plan = planView(pipeline, doc.position);
  const read = readDocument(pipeline, doc, chainedPipelinePaths(pipeline));
  return { faults, read: { ...read, plan, inputs: inputFields(pipeline) } };
}

const inputs = ({ yaml, scope }: Saved, { limits }: JobOptions) => {
  const { pipeline } = readPipeline(yaml, scope, { limits });
  return { template: inputTemplate(pipeline) ?? null, fields: inputFields(pipeline) };
};

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
  check,
  inputs,
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
