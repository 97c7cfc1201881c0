/** `spec` of a stage of the type Pipeline: another pipeline that runs as a part of this one. */
import { z } from "zod";
import { allLater, identifier, namedList, type Phase, text, variableName } from "../../steps/schema/fields.ts";
import { isMarker, readMarker } from "../../steps/schema/marker.ts";
import type { ValueField } from "../../steps/value-field.ts";
import type { Path } from "../../platform/document/position/path.ts";

const MAX_SETS = 20;
const MAX_OUTPUTS = 128;

type Json = { readonly [key: string]: unknown };

const inputs = (phase: Phase) =>
  z.record(z.string(), z.unknown()).superRefine((given, context) => {
    for (const { path, value } of leavesOf(given, [])) {
      const message = leafFault(path, value, phase);
      if (message !== undefined) context.addIssue({ code: "custom", path: [...path], message });
    }
    for (const { path } of namedIn(given, []))
      if (isForAnother(path)) context.addIssue({ code: "custom", path: [...path], message: FOR_ANOTHER });
  });

/** Whether a value is for a pipeline that the chained one runs: references in it would belong to the project of that. */
const isForAnother = (path: Path): boolean =>
  path.some((part, nth) => part === "inputs" && nth > 0 && path[nth - 1] === "spec");

export const FOR_ANOTHER =
  "A secret or credential for a pipeline that the chained pipeline runs itself cannot be given from here: name it in the chained pipeline";

/** A value of an expression is data: anywhere else the pipeline would take it for a part of itself. */
function leafFault(path: Path, value: unknown, phase: Phase): string | undefined {
  if (typeof value !== "string") return undefined;
  if (isMarker(value)) {
    const read = phase === "saved" ? readMarker(value) : undefined;
    return read && "fault" in read ? read.fault : undefined;
  }
  if (!value.includes("<+") || isVariableValue(path)) return undefined;
  return "An expression may only be the value of a variable of the chained pipeline: let the pipeline read the variable here";
}

const isVariableValue = (path: Path): boolean =>
  path.length === 3 && path[0] === "variables" && typeof path[1] === "number" && path[2] === "value";

type Leaf = { readonly path: Path; readonly value: unknown };

function leavesOf(value: unknown, path: Path): readonly Leaf[] {
  if (Array.isArray(value)) return value.flatMap((item, nth) => leavesOf(item, [...path, nth]));
  if (typeof value !== "object" || value === null) return [{ path, value }];
  return Object.entries(value).flatMap(([key, item]) => leavesOf(item, [...path, key]));
}

export const chainSpec = (phase: Phase) =>
  z.strictObject({
    org: identifier.describe("The organization of the pipeline"),
    project: identifier.describe("The project of the pipeline"),
    pipeline: identifier.describe("The pipeline"),
    inputs: inputs(phase).nullish().describe("What stands under `pipeline` in the inputs of a run"),
    inputSetReferences: z.array(identifier).max(MAX_SETS).nullish().describe("Input sets of the pipeline"),
    outputs: namedList(
      z.strictObject({
        name: variableName.describe("For `<+pipeline.stages.ID.output.NAME>`"),
        value: text(phase).describe("Evaluated at the end of the pipeline, by its own names"),
      }),
    )
      .max(MAX_OUTPUTS)
      .nullish()
      .describe("What stages after this one can read"),
    ...allLater("pipelineInputs", "inputSets", "execution"),
  });

export type ChainSpec = z.output<ReturnType<typeof chainSpec>>;

/** A value of the inputs that holds an expression, or may hold one. */
export type GivenVariable = { readonly path: Path; readonly name: string; readonly value: string };

/** Values of variables that the inputs give, with their paths from the spec. */
export const variablesGiven = ({ inputs: given }: ChainSpec): readonly GivenVariable[] => {
  const list: unknown = given?.["variables"];
  if (!Array.isArray(list)) return [];
  return list.flatMap((item: unknown, nth) => {
    const { name, value } = (typeof item === "object" && item !== null ? item : {}) as Json;
    if (typeof name !== "string" || typeof value !== "string") return [];
    return [{ path: ["inputs", "variables", nth, "value"], name, value }];
  });
};

/**
 * The secrets that the inputs name, with their paths from the spec: they belong to the project of the chained pipeline.
 * Values of the type Secret, and credentials of hosts. The start refuses expressions there.
 */
export const secretsGiven = ({ inputs: given }: ChainSpec): readonly ValueField[] =>
  namedIn(given, ["inputs"]).filter(({ value }) => isMarker(value) || !String(value).includes("<+"));

function namedIn(value: unknown, path: Path): readonly ValueField[] {
  if (Array.isArray(value)) return value.flatMap((item, nth) => namedIn(item, [...path, nth]));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, item]): readonly ValueField[] => {
    if (typeof item !== "string") return namedIn(item, [...path, key]);
    if (key === "connectorRef" && path.at(-1) === "executionTarget")
      return [{ kind: "login", path: [...path, key], value: item }];
    if (key === "value" && ((value as Json)["type"] === "Secret" || isMarker((value as Json)["type"])))
      return [{ kind: "secret", path: [...path, key], value: item }];
    return [];
  });
}

/** All texts of the inputs. */
export const textsGiven = ({ inputs: given }: ChainSpec): readonly string[] =>
  leavesOf(given ?? {}, []).flatMap(({ value }) => (typeof value === "string" ? [value] : []));

/** Those for pipelines that the chained one runs itself. */
export const textsForAnother = ({ inputs: given }: ChainSpec): readonly string[] =>
  leavesOf(given ?? {}, []).flatMap(({ path, value }) =>
    typeof value === "string" && isForAnother(path) ? [value] : [],
  );

/** Texts of the spec in which expressions get a value. */
export const chainFields = (spec: ChainSpec): readonly ValueField[] => [
  ...variablesGiven(spec)
    .filter(({ value }) => value.includes("<+"))
    .map(({ path, value }) => ({ kind: "text" as const, path: ["spec", ...path], value })),
  ...(spec.outputs ?? []).map(({ value }, nth) => ({
    ...{ kind: "output" as const, path: ["spec", "outputs", nth, "value"], value },
  })),
];
