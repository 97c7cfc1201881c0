/** When a CustomApproval step approves or rejects, as a document and as a plan have it. */
import { z } from "zod";
import {
  evaluateCondition,
  evaluateTemplate,
  newBudget,
  type Output,
  type Scope,
  withNames,
} from "../../engine/index.ts";
import { choice, type Phase, text, typed, variableName } from "../schema/fields.ts";
import type { ValueField } from "../value-field.ts";

const OPERATORS = ["equals", "not equals", "in", "not in"] as const;
type Operator = (typeof OPERATORS)[number];

const MAX_CONDITIONS = 64;

const jexl = (phase: Phase) =>
  z.strictObject({
    type: z.literal("Jexl").describe("How the criteria are written"),
    spec: z
      .strictObject({
        expression: text(phase)
          .refine((value) => value.trim() !== "", { error: "Expected an expression" })
          .describe('As in `<+output.outputVariables.state> == "approved"`'),
      })
      .describe("The criteria"),
  });

const condition = (phase: Phase) =>
  z.strictObject({
    key: variableName.describe("One of the `outputVariables`"),
    operator: choice("Operator", OPERATORS, () => false).describe("`in` and `not in` take values with commas between"),
    value: text(phase).describe("May hold expressions"),
  });

const keyValues = (phase: Phase) =>
  z.strictObject({
    type: z.literal("KeyValues").describe("How the criteria are written"),
    spec: z
      .strictObject({
        matchAnyCondition: z.boolean().nullish().describe("`true`: one condition is enough"),
        conditions: z.array(condition(phase)).min(1).max(MAX_CONDITIONS).describe("What output variables have to be"),
      })
      .describe("The criteria"),
  });

export const criteria = (phase: Phase) =>
  typed(
    choice("Criteria type", ["Jexl", "KeyValues"], () => false),
    [jexl(phase), keyValues(phase)],
  );

export type CriteriaSpec =
  | { readonly type: "Jexl"; readonly spec: { readonly expression: string } }
  | {
      readonly type: "KeyValues";
      readonly spec: {
        readonly matchAnyCondition?: boolean | null | undefined;
        readonly conditions: readonly { readonly key: string; readonly operator: Operator; readonly value: string }[];
      };
    };

const NAMES = ["output"];

/** `field`: where the criteria stand in `spec`. */
export function criteriaFields(field: string, { type, spec }: CriteriaSpec): readonly ValueField[] {
  if (type === "Jexl")
    return [{ kind: "condition", path: [field, "spec", "expression"], value: spec.expression, names: NAMES }];
  return spec.conditions.map(({ value }, index) => ({
    ...{ kind: "text", path: [field, "spec", "conditions", index, "value"], value, names: NAMES },
  }));
}

/** Whether they are met by what the script left. Throws ExpressionError. */
export function areMet({ type, spec }: CriteriaSpec, outputs: readonly Output[], scope: Scope): boolean {
  const outputVariables = Object.fromEntries(outputs.map(({ name, value }) => [name, value]));
  const inside = withNames(scope, { output: { outputVariables } });
  const budget = newBudget();
  if (type === "Jexl") return evaluateCondition(spec.expression, inside, budget);
  const isMet = ({ key, operator, value }: (typeof spec.conditions)[number]): boolean =>
    compare(operator, outputVariables[key] ?? "", evaluateTemplate(value, inside, budget));
  return spec.matchAnyCondition === true ? spec.conditions.some(isMet) : spec.conditions.every(isMet);
}

function compare(operator: Operator, found: string, wanted: string): boolean {
  const isOneOf = (): boolean => wanted.split(",").some((one) => one.trim() === found.trim());
  switch (operator) {
    case "equals":
      return found === wanted;
    case "not equals":
      return found !== wanted;
    case "in":
      return isOneOf();
    case "not in":
      return !isOneOf();
  }
}
