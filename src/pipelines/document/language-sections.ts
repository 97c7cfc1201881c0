/** The fields of the language in sections, for its reference. */
import { z } from "zod";
import { environmentVariable, outputVariable, variable } from "../../steps/schema/variables.ts";
import { stepModules } from "../../steps/table.ts";
import { stageCondition, stepCondition } from "./conditions.ts";
import { failureStrategies } from "./failure-strategies.ts";
import { fieldsIn, type LanguageField } from "./language-fields.ts";
import { strategy } from "./looping.ts";
import { pipelineSchema } from "./schema.ts";
import { stageTypes } from "./stage.ts";
import { stepSchema, stepGroupSchema } from "./step.ts";

type Section = { readonly title: string; readonly fields: readonly LanguageField[] };

/** Fields that have a section of their own, or are those of all stages or steps. */
const ELSEWHERE = ["stages", "steps", "rollbackSteps", "variables", "when", "strategy", "failureStrategies"];

const stageSections = (): readonly Section[] => {
  const types = stageTypes("saved");
  const [first] = types;
  if (!first) return [];
  const common = fieldsIn(first.schema, { stop: [...ELSEWHERE, "spec"] });
  const own = types.map(({ type, schema }) => ({
    title: `\`spec\` of a stage of the type ${type}`,
    fields: fieldsIn(z.object(schema.shape).shape["spec"] as z.ZodType, {
      stop: ["steps", "rollbackSteps", "variables"],
    }),
  }));
  return [{ title: "Stage", fields: common }, ...own];
};

const stepSections = (): readonly Section[] => [
  { title: "Step", fields: fieldsIn(stepSchema("saved"), { stop: [...ELSEWHERE, "spec"] }) },
  ...stepModules.map(({ type, schema }) => ({
    title: `\`spec\` of a step of the type ${type}`,
    fields: fieldsIn(schema("saved"), { stop: ["environmentVariables", "outputVariables"] }),
  })),
];

const controlSections = (): readonly Section[] => [
  { title: "`when` of a stage", fields: fieldsIn(stageCondition("saved"), {}) },
  { title: "`when` of a step or step group", fields: fieldsIn(stepCondition("saved"), {}) },
  { title: "`strategy`", fields: fieldsIn(strategy("saved"), {}) },
  {
    title: "`failureStrategies[]`",
    fields: fieldsIn(failureStrategies("saved"), { stop: ["onRetryFailure", "onTimeout"] }),
  },
];

export const languageSections = (): readonly Section[] => [
  { title: "Pipeline", fields: fieldsIn(pipelineSchema("saved"), { stop: ELSEWHERE }) },
  ...stageSections(),
  ...stepSections(),
  { title: "Step group", fields: fieldsIn(stepGroupSchema("saved"), { stop: ELSEWHERE }) },
  ...controlSections(),
  { title: "`variables[]`", fields: fieldsIn(variable("saved"), {}) },
  { title: "`environmentVariables[]`", fields: fieldsIn(environmentVariable("saved"), {}) },
  { title: "`outputVariables[]`", fields: fieldsIn(outputVariable, {}) },
];
