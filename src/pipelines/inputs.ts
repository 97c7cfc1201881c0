import { type Doc, parseDocument } from "../platform/document/document.ts";
import { type Path, pathText } from "../platform/document/position/path.ts";
import { documentProblem, validate } from "../platform/document/validate.ts";
import { faultsOf } from "./document/check.ts";
import { type ExecutionInputs, executionInputs } from "./document/execution-inputs.ts";
import { withPlaces } from "./document/fault-places.ts";
import { PIPELINE_LIMITS } from "./document/limits.ts";
import type { ReadOptions } from "./document/read.ts";
import { isMarker, type Marker, readMarker } from "../steps/schema/marker.ts";
import { merge, type Merged } from "./document/merge.ts";
import { problem } from "./document/problems.ts";
import { type PipelineDocument, pipelineSchema } from "./document/schema.ts";
import type { Phase } from "../steps/schema/fields.ts";
import { referencesIn, type Reference } from "./document/references.ts";
import { secretsInGiven } from "./document/secrets.ts";
import { filledSecrets, type WrittenSecret } from "./secrets.ts";

export { inputTemplate, withInputs } from "./document/template.ts";

/** A value that a run of the pipeline is to be given, and what it allows. */
export type RuntimeInput = Marker & { readonly path: string };

/** The runtime inputs of a pipeline, in the order of the document; paths as in `pipeline.variables[0].value`. */
export const runtimeInputs = (pipeline: PipelineDocument): readonly RuntimeInput[] => inputsIn(pipeline, ["pipeline"]);

function inputsIn(value: unknown, path: Path): readonly RuntimeInput[] {
  if (typeof value === "string" && isMarker(value)) {
    const read = readMarker(value);
    return "fault" in read ? [] : [{ path: pathText(path), ...read }];
  }
  if (Array.isArray(value)) return value.flatMap((item, index) => inputsIn(item, [...path, index]));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => inputsIn(item, [...path, key]));
}

/**
 * The pipeline with its runtime inputs filled in. `input` is YAML or JSON with
 * the key `pipeline` and below it the runtime fields only, stages and steps named
 * by their identifier, variables by their name; what is fixed may be repeated.
 *
 * Given text is taken as if the author had written it there: expressions in it
 * are evaluated, `<+input>` in it is a value not given. Throws, all 400:
 * `pipeline.missing_inputs` naming every path without a value,
 * `pipeline.bad_inputs` for values that are not allowed or belong nowhere,
 * `document.invalid` when a value does not fit its field, and the problems of
 * `parseDocument`; faults carry line and column in the input.
 */
export const mergeInputs = (
  pipeline: PipelineDocument,
  input: string | Doc | undefined,
  options: ReadOptions = {},
): PipelineDocument => fillIn(pipeline, input, options).pipeline;

type Filled = {
  readonly pipeline: PipelineDocument;
  readonly givenAt: Doc["position"];
  /** The same, of a place in the text there. */
  readonly givenIn: Doc["positionIn"];
};

type FillOptions = ReadOptions & {
  /** Variables that get their value when the stage begins which runs the pipeline. */
  readonly late?: readonly string[];
  /** Stages that the run does not take: what is given for them is not read. */
  readonly leftOut?: readonly string[];
};

/**
 * The same, and where in the input the value at a path was given; undefined for what the pipeline itself says.
 * `authored`: the pipeline with only those given values that it allows by name; other runtime inputs have their
 * defaults, or are left as they are. `late`: variables without a value before the stage begins that runs the pipeline.
 */
export function fillIn(
  pipeline: PipelineDocument,
  input: string | Doc | undefined,
  { late = [], leftOut = [], ...options }: FillOptions = {},
): Filled & { readonly authored: PipelineDocument; readonly asks: Asks } {
  const doc = withoutLate(typeof input === "string" ? readInput(input, options) : input, late);
  const inputs = executionInputs(pipeline);
  const merged = merge(withPlaceholders(pipeline, late), doc, { leftOut, ...inputs });
  const filled = checked(merged, doc, "merged");
  // Without given values they are the same. Otherwise only values of runtime inputs differ, and those were checked above.
  const asks = inputs.ofNodes;
  if (merged.values.size === 0 && late.length === 0) return { ...filled, asks, authored: filled.pipeline };
  const authored = merge(pipeline, doc, { authored: true, leftOut, ...inputs }).value as PipelineDocument;
  return { ...filled, asks, authored };
}

/** What nodes ask for when they begin, by their names. */
export type Asks = ExecutionInputs["ofNodes"];

/** Variables that get their value when the stage begins which runs the pipeline hold their place with any value. */
function withPlaceholders(pipeline: PipelineDocument, late: readonly string[]): PipelineDocument {
  if (late.length === 0) return pipeline;
  const variables = (pipeline.variables ?? []).map((one) =>
    late.includes(one.name) ? { ...one, value: one.type === "Number" ? 0 : "-" } : one,
  );
  return { ...pipeline, variables };
}

/** What an input set gives for them does not count. */
function withoutLate(doc: Doc | undefined, late: readonly string[]): Doc | undefined {
  const { pipeline } = (doc?.value ?? {}) as { readonly pipeline?: { readonly variables?: unknown } };
  if (!doc || late.length === 0 || !Array.isArray(pipeline?.variables)) return doc;
  const variables = (pipeline.variables as readonly { readonly name?: string }[]).map((one) =>
    late.includes(one?.name ?? "") ? { name: one.name } : one,
  );
  return { ...doc, value: { pipeline: { ...pipeline, variables } } };
}

/** Path text in the pipeline → the value for the runtime input there. */
export type GivenInputs = ReadonlyMap<string, unknown>;

/** The secrets that such a document asks for. */
export function givenSecrets(pipeline: PipelineDocument, doc: Doc): readonly WrittenSecret[] {
  const { pipeline: merged, givenIn } = checked(merge(pipeline, doc, { open: true }), doc, "saved");
  return filledSecrets(merged, givenIn, () => undefined).filter(({ inInputs }) => inInputs);
}

/** The services, environments and connectors that such a document names. */
export function referencesGiven(pipeline: PipelineDocument, doc: Doc): readonly Reference[] {
  const merged = merge(pipeline, doc, { open: true });
  return referencesIn(checked(merged, doc, "saved").pipeline).filter(
    ({ path }) => originOf(merged, path) !== undefined,
  );
}

/**
 * What a document gives that need not give everything: each value has to be that of a runtime input and to fit it.
 * Throws what `mergeInputs` throws of values that were given.
 */
export function givenInputs(pipeline: PipelineDocument, doc: Doc): GivenInputs {
  const merged = merge(pipeline, doc, { open: true });
  checked(merged, doc, "saved");
  return merged.values;
}

const checked = (merged: Merged, doc: Doc | undefined, phase: Phase): Filled =>
  withPlaces({ pipeline: merged.value }, () => judged(merged, doc, phase));

function judged(merged: Merged, doc: Doc | undefined, phase: Phase): Filled {
  if (merged.missing.length > 0 || merged.faults.length > 0) throw refusal(merged);
  const positioned = positionedBy(merged, doc);
  const pipeline = validate(pipelineSchema(phase), positioned, { root: "pipeline" });
  const faults = faultsOf(pipeline, positioned, phase);
  if (faults.length > 0) throw documentProblem(faults);
  const secrets = secretsInGiven(pipeline, (path) => originOf(merged, path) !== undefined);
  if (secrets.length > 0) throw secretRefusal(secrets, positioned);
  return { pipeline, givenAt: positioned.position, givenIn: positioned.positionIn };
}

/** Whoever may run a pipeline gives its inputs; which secrets it uses is said by those who may edit it. */
function secretRefusal(
  secrets: readonly { readonly path: Path; readonly offset: number }[],
  doc: Pick<Doc, "positionIn">,
): Error {
  const faults = secrets.map(({ path, offset }) => ({
    path: pathText(path),
    message: "This input asks for a secret, and the pipeline does not declare it with the type Secret",
    ...doc.positionIn(path, offset),
  }));
  return problem("pipeline.secret_in_input", [faults.map(({ path }) => path).join(", ")], { faults });
}

/** Nothing but white space is no input. */
const readInput = (text: string, { format = "yaml", limits = PIPELINE_LIMITS }: ReadOptions): Doc | undefined =>
  text.trim() === "" ? undefined : parseDocument(text, { ...limits, format });

function refusal({ missing, faults }: Merged): Error {
  const all = [...missing.map(({ path }) => ({ path, message: "This runtime input has no value" })), ...faults];
  if (missing.length > 0)
    return problem("pipeline.missing_inputs", [missing.map(inputText).join(", ")], { faults: all });
  const text = faults.map((fault) => `${fault.path}: ${fault.message}${fault.line ? ` (line ${fault.line})` : ""}`);
  return problem("pipeline.bad_inputs", [text.join("; ")], { faults: all });
}

const inputText = ({ path, name }: Merged["missing"][number]): string =>
  name === undefined ? path : `${path} (${name})`;

/** The merged pipeline as a document: what was given stands where the input has it, the rest has no place. */
function positionedBy(merged: Merged, doc: Doc | undefined): Omit<Doc, "pathText"> {
  const ask = <T>(path: Path, question: (doc: Doc, path: Path) => T | undefined): T | undefined => {
    const origin = doc && originOf(merged, path);
    return origin && question(doc, origin);
  };
  return {
    value: { pipeline: merged.value },
    position: (path) => ask(path, (inputs, at) => inputs.position(at)),
    keyPosition: (path) => ask(path, (inputs, at) => inputs.keyPosition(at)),
    positionIn: (path, offset) => ask(path, (inputs, at) => inputs.positionIn(at, offset)),
    source: (path) => ask(path, (inputs, at) => inputs.source(at)),
  };
}

/** Where in the inputs the value at a path was given; undefined for what the pipeline itself says. */
function originOf({ origins }: Merged, path: Path): Path | undefined {
  for (let length = path.length; length > 0; length -= 1) {
    const origin = origins.get(pathText(path.slice(0, length)));
    if (origin) return [...origin, ...path.slice(length)];
  }
  return undefined;
}
