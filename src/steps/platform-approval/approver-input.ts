import { z } from "zod";
import { matchesWhole, patternFault } from "../../engine/index.ts";
import { namedList, type Phase, text, variableName } from "../schema/fields.ts";
import type { ApproverInput, InputRule } from "./request.ts";

/** Values of a list to choose from. */
const MAX_VALUES = 256;
const MAX_INPUTS = 50;
/** Characters of a value. */
export const MAX_VALUE = 4_096;

const one = z
  .string()
  .min(1)
  .max(MAX_VALUE)
  .refine((value) => !value.includes("<+"), { error: "Expressions in the values to choose from are not supported" });

const values = z
  .array(z.union([one, z.number(), z.boolean()]))
  .min(1)
  .max(MAX_VALUES);

const RULES = ["allowedValues", "regex", "selectOneFrom", "selectManyFrom"] as const;

const approverInput = (phase: Phase) =>
  z
    .strictObject({
      name: variableName.describe("For `output.approverInputs.NAME`"),
      defaultValue: z
        .union([text(phase).max(MAX_VALUE), z.number(), z.boolean()])
        .nullish()
        .describe("Taken where the approver gives none; may hold expressions"),
      required: z.boolean().nullish().describe("An approval needs a value"),
      allowedValues: values.nullish().describe("The only values"),
      regex: z.string().min(1).max(MAX_VALUE).nullish().describe("Matches the whole value"),
      selectOneFrom: values.nullish().describe("One of these values"),
      selectManyFrom: values.nullish().describe("Some of these values, separated by commas"),
    })
    .superRefine((input, context) => {
      const given = RULES.filter((rule) => input[rule] !== undefined && input[rule] !== null);
      const refuse = (path: string, message: string): void =>
        context.addIssue({ code: "custom", path: [path], message });
      if (given.length > 1) refuse(given[1] ?? "", `Expected at most one of ${RULES.join(", ")}`);
      const pattern = input.regex ? patternFault(input.regex) : undefined;
      if (pattern !== undefined) return refuse("regex", `The pattern cannot be used: ${pattern}`);
      const usual = String(input.defaultValue ?? "");
      if (usual === "" || usual.includes("<+")) return;
      const fault = ruleFault(usual, ruleOf(input));
      if (fault !== undefined) refuse("defaultValue", `The default ${fault}`);
    });

export const approverInputs = (phase: Phase) => namedList(approverInput(phase)).max(MAX_INPUTS);

export type ApproverInputDocument = z.output<ReturnType<typeof approverInput>>;

const texts = (given: readonly (string | number | boolean)[]): readonly string[] => given.map(String);

function ruleOf(input: ApproverInputDocument): InputRule | null {
  for (const kind of ["allowedValues", "selectOneFrom", "selectManyFrom"] as const) {
    const given = input[kind];
    if (given) return { kind, values: texts(given) };
  }
  return input.regex ? { kind: "regex", pattern: input.regex } : null;
}

export const inputOf = (input: ApproverInputDocument): ApproverInput => ({
  name: input.name,
  defaultValue: String(input.defaultValue ?? ""),
  required: input.required === true,
  rule: ruleOf(input),
});

/** What is wrong with a value, as the end of a sentence; undefined if nothing is. */
export function ruleFault(value: string, rule: InputRule | null): string | undefined {
  if (value.length > MAX_VALUE) return `has more than ${MAX_VALUE} characters`;
  switch (rule?.kind) {
    case undefined:
      return undefined;
    case "regex":
      return matchesWhole(rule.pattern, value) ? undefined : `does not match ${rule.pattern}`;
    case "allowedValues":
    case "selectOneFrom":
      return rule.values.includes(value) ? undefined : `is not one of ${rule.values.join(", ")}`;
    case "selectManyFrom": {
      const other = value.split(",").find((one) => !rule.values.includes(one.trim()));
      return other === undefined ? undefined : `has '${other.trim()}', which is not one of ${rule.values.join(", ")}`;
    }
  }
}
