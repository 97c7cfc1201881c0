import { z } from "zod";
import { BINDING_PREFIX } from "../../engine/index.ts";
import { choice, description, oneOf, type Phase, shellName, text, variableName } from "./fields.ts";
import { isMarker } from "./marker.ts";
import { isReference } from "./reference.ts";

/** A value as YAML writes it; an empty one counts as empty text. */
const value = (phase: Phase) => z.union([text(phase), z.number(), z.boolean(), z.null()]);

type Typed = { readonly type: "String" | "Number" | "Secret"; readonly value: string | number | boolean | null };

/** A value of its type. */
function checkType(variable: Typed, context: z.RefinementCtx): void {
  refuseNoNumber(variable, context);
  refuseNoReference(variable, context);
}

/** Type Secret takes the reference of a secret: what expressions would make of it could be anybody's choice. */
function refuseNoReference({ type, value }: Typed, context: z.RefinementCtx): void {
  if (type !== "Secret" || (typeof value === "string" && (isMarker(value) || isReference(value)))) return;
  const message = "A value of the type Secret is the reference of a secret, as in account.name, org.name or name";
  context.addIssue({ code: "custom", path: ["value"], message });
}

/** Type Number takes what reads as a number; an expression decides when it is evaluated. */
function refuseNoNumber(variable: Typed, context: z.RefinementCtx): void {
  if (variable.type !== "Number" || typeof variable.value === "number") return;
  const text = typeof variable.value === "string" ? variable.value : "";
  const number = text.trim() !== "" && Number.isFinite(Number(text));
  if (number || isMarker(text) || text.includes("<+")) return;
  context.addIssue({ code: "custom", path: ["value"], message: "Expected a number: the type is Number" });
}

const type = choice("Variable type", ["String", "Number", "Secret"], () => false);

/** Of a pipeline, a stage or a service. `default` and `required: false` speak when a runtime input gets no value. */
export const variable = (phase: Phase) =>
  z
    .strictObject({
      name: variableName,
      type,
      description,
      required: z.boolean().nullish(),
      default: z.union([z.string(), z.number(), z.boolean(), z.null()]).optional(),
      value: value(phase),
    })
    .superRefine(checkType);

const environmentName = shellName.refine((name) => !name.startsWith(BINDING_PREFIX), {
  error: `Names that begin with ${BINDING_PREFIX} are kept for the platform`,
});

/** Set in the environment of a step's script. */
export const environmentVariable = (phase: Phase) =>
  z.strictObject({ name: environmentName, type, value: value(phase) }).superRefine(checkType);

/** Read from the script when it has ended: `value` names the script's variable. */
export const outputVariable = z.strictObject({
  name: variableName,
  type: choice("Output variable type", ["String"], oneOf("Secret")),
  value: shellName,
});
