import { parse, stringify } from "yaml";
import type { PipelineInputs } from "../../../api/operations.gen.ts";

export type RunInput = PipelineInputs[number];
/** What is typed, by `fqn`. */
export type Values = Readonly<Record<string, string>>;

/** Inputs that the form asks for: those of the chosen stages, without those that are asked for while it runs. */
export const askedInputs = (inputs: PipelineInputs, stages: readonly string[] | undefined): PipelineInputs =>
  inputs.filter(
    ({ templateFqn, stage }) =>
      templateFqn !== null && (stages === undefined || stage === null || stages.includes(stage.identifier)),
  );

/** The values that the form begins with. */
export const defaultValues = (inputs: PipelineInputs): Values =>
  Object.fromEntries(inputs.map((input) => [input.fqn, input.default ?? ""]));

/** What is wrong with the value, so that the form can say it before the server does. */
export function faultOf(input: RunInput, value: string): string | undefined {
  if (value === "") return input.required ? "This input needs a value." : undefined;
  if (input.type === "Number" && !/^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/.test(value))
    return "This input takes a number, such as 3 or -0.5.";
  if (input.regex !== null && !matches(input.regex, value)) return `The value does not match ${input.regex}`;
  return undefined;
}

function matches(pattern: string, value: string): boolean {
  try {
    return new RegExp(`^(?:${pattern})$`, "u").test(value);
  } catch {
    // The server's patterns know more than the browser's: it decides.
    return true;
  }
}

/** The body of the run: the template with the values. Inputs without one keep their place, and get their defaults. */
export function runtimeInputYaml(
  template: string | null,
  inputs: PipelineInputs,
  { values, stages }: { readonly values: Values; readonly stages: readonly string[] | undefined },
): string | undefined {
  if (template === null) return undefined;
  const document: unknown = parse(template);
  for (const input of inputs) {
    const value = values[input.fqn] ?? "";
    if (input.templateFqn === null || value === "") continue;
    setAt(document, input.templateFqn, input.type === "Number" ? Number(value) : value);
  }
  if (stages !== undefined) keepStages(document, stages);
  return stringify(document, { lineWidth: 0 });
}

/** The values that a merged document has for the inputs; places that are still open keep what is typed. */
export function valuesOf(yaml: string, inputs: PipelineInputs, typed: Values): Values {
  const document: unknown = parse(yaml);
  const found = inputs.flatMap(({ fqn, templateFqn }) => {
    const value = templateFqn === null ? undefined : getAt(document, templateFqn);
    const text = Array.isArray(value) ? value.join(",") : textOf(value);
    return text === undefined || text.startsWith("<+input>") ? [] : [[fqn, text] as const];
  });
  return { ...typed, ...Object.fromEntries(found) };
}

const textOf = (value: unknown): string | undefined =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;

/** pipeline.variables[0].value */
const keysOf = (path: string): readonly (string | number)[] =>
  [...path.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map(([, index, key]) =>
    index === undefined ? (key ?? "") : Number(index),
  );

type Container = Record<string | number, unknown>;
const isContainer = (value: unknown): value is Container => typeof value === "object" && value !== null;

const getAt = (document: unknown, path: string): unknown =>
  keysOf(path).reduce<unknown>((value, key) => (isContainer(value) ? value[key] : undefined), document);

function setAt(document: unknown, path: string, value: unknown): void {
  const keys = keysOf(path);
  const last = keys.at(-1);
  const parent = keys
    .slice(0, -1)
    .reduce<unknown>((found, key) => (isContainer(found) ? found[key] : undefined), document);
  if (isContainer(parent) && last !== undefined) parent[last] = value;
}

type Item = { readonly stage?: { readonly identifier?: string }; readonly parallel?: readonly Item[] };

/** A run of single stages refuses inputs of the others. */
function keepStages(document: unknown, stages: readonly string[]): void {
  const pipeline = getAt(document, "pipeline");
  if (!isContainer(pipeline) || !Array.isArray(pipeline["stages"])) return;
  const isKept = ({ stage }: Item): boolean => stages.includes(stage?.identifier ?? "");
  const kept = (pipeline["stages"] as readonly Item[]).flatMap((item) => {
    if (item.parallel === undefined) return isKept(item) ? [item] : [];
    const parallel = item.parallel.filter(isKept);
    return parallel.length === 0 ? [] : [{ parallel }];
  });
  if (kept.length === 0) delete pipeline["stages"];
  else pipeline["stages"] = kept;
}
