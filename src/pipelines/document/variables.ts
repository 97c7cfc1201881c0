import { z } from "zod";
import { BINDING_PREFIX } from "../../engine/index.ts";
import { choice, description, oneOf, type Phase, shellName, text, variableName } from "./fields.ts";
import { isMarker } from "./marker.ts";

/** A value as YAML writes it; an empty one counts as empty text. */
const value = (phase: Phase) => z.union([text(phase), z.number(), z.boolean(), z.null()]);

type Typed = { readonly type: "String" | "Number"; readonly value: string | number | boolean | null };

/** Type Number takes what reads as a number; an expression decides when it is evaluated. */
function refuseNoNumber(variable: Typed, context: z.RefinementCtx): void {
  if (variable.type !== "Number" || typeof variable.value === "number") return;
  const text = typeof variable.value === "string" ? variable.value : "";
  const number = text.trim() !== "" && Number.isFinite(Number(text));
  if (number || isMarker(text) || text.includes("<+")) return;
  context.addIssue({ code: "custom", path: ["value"], message: "Expected a number: the type is Number" });
}

const type = choice("Variable type", ["String", "Number"], oneOf("Secret"));

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
    .superRefine(refuseNoNumber);

const environmentName = shellName.refine((name) => !name.startsWith(BINDING_PREFIX), {
  error: `Names that begin with ${BINDING_PREFIX} are kept for the platform`,
});

/** Set in the environment of a step's script. */
export const environmentVariable = (phase: Phase) =>
  z.strictObject({ name: environmentName, type, value: value(phase) }).superRefine(refuseNoNumber);

/** Read from the script when it has ended: `value` names the script's variable. */
export const outputVariable = z.strictObject({
  name: variableName,
  type: choice("Output variable type", ["String"], oneOf("Secret")),
  value: shellName,
});
