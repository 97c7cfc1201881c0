/** What is submitted for a node that waits for its inputs. */
import type { Fault } from "../core/problem.ts";
import { type NodeInput, type NodeInputs, numberFault } from "../engine/index.ts";
import { type Doc, parseDocument } from "../platform/document/document.ts";
import { clip, type Path, pathText } from "../platform/document/position/path.ts";
import { faultOf } from "../platform/document/validate.ts";
import { PIPELINE_LIMITS } from "./document/limits.ts";
import { mergeAll, textOf } from "./document/merge.ts";
import { problem } from "./document/problems.ts";
import type { PipelineText } from "./text.ts";

export { withSubmitted } from "./document/template.ts";

/** UTF-8 bytes of the values of one node. */
const MAX_BYTES = 256 * 1024;

const ASKS_SECRET = /<\+\s*secrets\b/;

/**
 * A value for each input, by its key; defaults where none is given. The text has the form of the template. Throws, all
 * 400: `pipeline.missing_inputs`, `pipeline.bad_inputs`, `pipeline.secret_in_input`, and the problems of
 * `parseDocument`; faults carry line and column.
 */
export function submittedValues(
  { template, inputs }: NodeInputs,
  { text, format }: PipelineText,
): { readonly [key: string]: string } {
  const doc = text.trim() === "" ? undefined : parseDocument(text, { ...PIPELINE_LIMITS, format });
  const merged = mergeAll(template, doc, { open: true, isAsked: true });
  const faults: Fault[] = [...merged.faults];
  const missing: string[] = [];
  const values = new Map<string, string>();
  const secrets: Fault[] = [];
  for (const [key, given] of merged.values) {
    const path = merged.origins.get(key) ?? [];
    const input = inputs.find((one) => one.key === key);
    const read = input ? valueOf(doc, { given, path, input }) : FIXED;
    if ("fault" in read || !doc) faults.push(faultAt(doc, path, "fault" in read ? read.fault : ""));
    else if (ASKS_SECRET.test(read.value)) secrets.push(faultAt(doc, path, SECRET));
    else {
      const fault = faultIn(input, read.value);
      if (fault === undefined) values.set(key, read.value);
      else faults.push(faultAt(doc, path, fault));
    }
  }
  for (const { key, ...input } of inputs) {
    if (merged.values.has(key)) continue;
    if (input.default === undefined || (input.isRequired && input.default === "")) missing.push(key);
    else values.set(key, input.default);
  }
  refuse({ missing, faults, secrets });
  requireSmall(values);
  return Object.fromEntries(values);
}

const FIXED = { fault: "This is fixed by the pipeline; only what the node asks for can be given" } as const;
const SECRET = "This value asks for a secret, and what is submitted is stored and shown";
const EXPRESSION = "An expression is not evaluated in what is submitted: submit its value";

const faultAt = (doc: Doc | undefined, path: Path, message: string): Fault =>
  doc ? faultOf(doc, path, message, "value") : { path: pathText(path), message };

/** A scalar as it is written; of several chosen values a text with commas. */
function valueOf(
  doc: Doc | undefined,
  { given, path, input }: { readonly given: unknown; readonly path: Path; readonly input: NodeInput },
): { readonly value: string } | { readonly fault: string } {
  if (Array.isArray(given)) {
    if (!input.isMany) return { fault: "Expected a text, got a list" };
    const isText = given.every((one) => typeof one !== "object" || one === null);
    return isText ? { value: given.map((one) => textOf(one ?? "")).join(",") } : { fault: "Expected a text" };
  }
  if (typeof given === "object" && given !== null) return { fault: "Expected a text, got a map" };
  const text = given === null ? "" : textOf(given);
  const source = doc?.source(path);
  if (typeof given !== "string" && given !== null && source !== undefined && source !== text)
    return { fault: `Write '${clip(source)}' in quotes: unquoted, it is read as ${text}` };
  return { value: text };
}

function faultIn(input: NodeInput | undefined, value: string): string | undefined {
  if (value.includes("<+")) return EXPRESSION;
  if (input?.isRequired && value === "") return "A value is required";
  if (input?.type !== "Number" || (value === "" && !input.isRequired)) return undefined;
  const fault = numberFault(value);
  return fault === undefined ? undefined : `Expected a number: ${fault}`;
}

type Refused = {
  readonly missing: readonly string[];
  readonly faults: readonly Fault[];
  readonly secrets: readonly Fault[];
};

function refuse({ missing, faults, secrets }: Refused): void {
  const all = [...missing.map((path) => ({ path, message: "This runtime input has no value" })), ...faults, ...secrets];
  if (missing.length > 0) throw problem("pipeline.missing_inputs", [missing.join(", ")], { faults: all });
  if (faults.length > 0) {
    const text = faults.map((fault) => `${fault.path}: ${fault.message}${fault.line ? ` (line ${fault.line})` : ""}`);
    throw problem("pipeline.bad_inputs", [text.join("; ")], { faults: all });
  }
  if (secrets.length > 0)
    throw problem("pipeline.secret_in_input", [secrets.map(({ path }) => path).join(", ")], { faults: all });
}

function requireSmall(values: ReadonlyMap<string, string>): void {
  const bytes = [...values.values()].reduce((sum, value) => sum + Buffer.byteLength(value), 0);
  if (bytes > MAX_BYTES)
    throw problem("pipeline.bad_inputs", [
      `the values have ${bytes} bytes together, and at most ${MAX_BYTES} are allowed`,
    ]);
}
