/** The fields of the language in sections, for its reference. */
import { z } from "zod";
import { environmentVariable, outputVariable, variable } from "../../steps/schema/variables.ts";
import { stepModules } from "../../steps/table.ts";
import { stageCondition, stepCondition } from "./conditions.ts";
import { failureStrategies } from "./failure-strategies.ts";
import { type Feature, FEATURES, type Form, RELEASED } from "./form.ts";
import { fieldsIn, type LanguageField } from "./language-fields.ts";
import { strategy } from "./looping.ts";
import { pipelineForm } from "./schema.ts";
import { stageForms } from "./stage.ts";
import { stepForm, stepGroupForm } from "./step.ts";

type Section = { readonly title: string; readonly fields: readonly LanguageField[]; readonly feature?: Feature };

/** Fields that have a section of their own, or are those of all stages or steps. */
const ELSEWHERE = ["stages", "steps", "rollbackSteps", "variables", "when", "strategy", "failureStrategies"];

const stageSections = (form: Form): readonly Section[] => {
  const forms = stageForms(form);
  const [first] = forms;
  if (!first) return [];
  const common = fieldsIn(first.schema, { stop: [...ELSEWHERE, "spec"] });
  const own = forms.map(({ type, schema }) => ({
    title: `\`spec\` of a stage of the type ${type}`,
    fields: fieldsIn(z.object(schema.shape).shape["spec"] as z.ZodType, {
      stop: ["steps", "rollbackSteps", "variables"],
    }),
  }));
  return [{ title: "Stage", fields: common }, ...own];
};

const stepSections = (form: Form): readonly Section[] => [
  { title: "Step", fields: fieldsIn(stepForm(form), { stop: [...ELSEWHERE, "spec"] }) },
  ...stepModules.map(({ type, schema }) => ({
    title: `\`spec\` of a step of the type ${type}`,
    fields: fieldsIn(schema("saved"), { stop: ["environmentVariables", "outputVariables"] }),
  })),
];

const controlSections = (form: Form): readonly Section[] => [
  { title: "`when` of a stage", fields: fieldsIn(stageCondition("saved"), {}), feature: "when" },
  { title: "`when` of a step or step group", fields: fieldsIn(stepCondition("saved"), {}), feature: "when" },
  { title: "`strategy`", fields: fieldsIn(strategy("saved"), {}), feature: "strategy" },
  {
    title: "`failureStrategies[]`",
    fields: fieldsIn(failureStrategies(form), { stop: ["onRetryFailure", "onTimeout"] }),
  },
];

const allSections = (form: Form): readonly Section[] => [
  { title: "Pipeline", fields: fieldsIn(pipelineForm(form), { stop: ELSEWHERE }) },
  ...stageSections(form),
  ...stepSections(form),
  { title: "Step group", fields: fieldsIn(stepGroupForm(form), { stop: ELSEWHERE }), feature: "stepGroup" },
  ...controlSections(form),
  { title: "`variables[]`", fields: fieldsIn(variable("saved"), {}) },
  { title: "`environmentVariables[]`", fields: fieldsIn(environmentVariable("saved"), {}) },
  { title: "`outputVariables[]`", fields: fieldsIn(outputVariable, {}) },
];

/** Of the parts of the language that run, or of all that have a schema. */
export function languageSections(parts: "released" | "all"): readonly Section[] {
  const features = parts === "all" ? new Set(FEATURES) : RELEASED;
  const sections = allSections({ phase: "saved", features });
  return sections.filter(({ feature }) => feature === undefined || features.has(feature));
}
