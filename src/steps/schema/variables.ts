import { z } from "zod";
import { BINDING_PREFIX, numberFault } from "../../engine/index.ts";
import { choice, description, type Phase, shellName, text, variableName } from "./fields.ts";
import { isMarker, readMarker, valueFault } from "./marker.ts";
import { isReference } from "./secret-reference.ts";

/** A value as YAML writes it; an empty one counts as empty text. */
const value = (phase: Phase) => z.union([text(phase), z.number(), z.boolean(), z.null()]);

type Value = string | number | boolean | null;

/** `default` of a variable: taken where its runtime input gets no value. */
type Typed = {
  readonly type: "String" | "Number" | "Secret";
  readonly value: Value;
  readonly default?: Value | undefined;
};

/** A value of its type. */
function checkType(variable: Typed, context: z.RefinementCtx): void {
  refuseNoNumber(variable, context);
  refuseNoReference(variable, context);
  refuseDefaultNotAllowed(variable, context);
}

/** A default is taken without being given: it has to be a value that may be given. */
function refuseDefaultNotAllowed({ value, default: usual }: Typed, context: z.RefinementCtx): void {
  if (usual === undefined || usual === null || typeof value !== "string" || !isMarker(value)) return;
  const read = readMarker(value);
  const fault = "fault" in read || read.default !== undefined ? undefined : valueFault(read, String(usual));
  if (fault !== undefined) context.addIssue({ code: "custom", path: ["default"], message: `The default ${fault}` });
}

/** Type Secret takes the reference of a secret: what expressions would make of it could be anybody's choice. */
function refuseNoReference({ type, value }: Typed, context: z.RefinementCtx): void {
  if (type !== "Secret" || (typeof value === "string" && (isMarker(value) || isReference(value)))) return;
  const message = "A value of the type Secret is the reference of a secret, as in account.name, org.name or name";
  context.addIssue({ code: "custom", path: ["value"], message });
}

/** Type Number takes what reads as a number, also as default and as allowed value; an expression is judged when it is evaluated. */
function refuseNoNumber(variable: Typed, context: z.RefinementCtx): void {
  if (variable.type !== "Number") return;
  const { value, default: usual } = variable;
  refuse("value", numbersOf(value));
  if (usual !== undefined && usual !== null && typeof value === "string" && isMarker(value)) refuse("default", [usual]);

  function refuse(field: "value" | "default", values: readonly Value[]): void {
    const fault = values.map(faultOfNumber).find((one) => one !== undefined);
    if (fault !== undefined)
      context.addIssue({ code: "custom", path: [field], message: `Expected a number: ${fault}` });
  }
}

/** What the value may come to be: of a runtime input, its default and what it allows. */
function numbersOf(value: Value): readonly Value[] {
  if (typeof value !== "string" || !isMarker(value)) return [value];
  const read = readMarker(value);
  if ("fault" in read) return [];
  return [...(read.default === undefined ? [] : [read.default]), ...(read.allowed ?? [])];
}

function faultOfNumber(value: Value): string | undefined {
  if (typeof value === "number" || (typeof value === "string" && value.includes("<+"))) return undefined;
  return numberFault(typeof value === "string" ? value : "");
}

const type = choice("Variable type", ["String", "Number", "Secret"], () => false);

/** Of a pipeline, a stage or a service. `default` and `required: false` speak when a runtime input gets no value. */
export const variable = (phase: Phase) =>
  z
    .strictObject({
      name: variableName.describe("For expressions"),
      type: type.describe("Type of the value; of a Secret, the value is a reference"),
      description: description.describe("Any text"),
      required: z.boolean().nullish().describe("`false`: an empty text where no value is given"),
      default: z
        .union([z.string(), z.number(), z.boolean(), z.null()])
        .optional()
        .describe("Taken where a runtime input gets no value"),
      value: value(phase).describe("May hold expressions; evaluated when the execution starts"),
    })
    .superRefine(checkType);

export type VariableDocument = z.output<ReturnType<typeof variable>>;

const environmentName = shellName.refine((name) => !name.startsWith(BINDING_PREFIX), {
  error: `Names that begin with ${BINDING_PREFIX} are kept for the platform`,
});

/** Set in the environment of a step's script. */
export const environmentVariable = (phase: Phase) =>
  z
    .strictObject({
      name: environmentName.describe("For the script"),
      type: type.describe("Type of the value; of a Secret, the value is a reference"),
      value: value(phase).describe("May hold expressions; evaluated when the step starts"),
    })
    .superRefine(checkType);

/** Read from the script when it has ended: `value` names the script's variable. */
export const outputVariable = z.strictObject({
  name: variableName.describe("For expressions"),
  type: choice("Output variable type", ["String", "Secret"], () => false).describe("Type of the value"),
  value: shellName.describe("The variable of the script"),
});
