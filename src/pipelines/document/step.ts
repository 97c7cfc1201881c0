import { z } from "zod";
import {
  allLater,
  choice,
  delegateSelectors,
  description,
  identifier,
  MAX_PARALLEL,
  name,
  namedList,
  oneOf,
  oneOfFields,
  type Phase,
  timeout,
  TOO_MANY_PARALLEL,
  typed,
} from "../../steps/schema/fields.ts";
import { defined } from "../../platform/document/json-schema/definitions.ts";
import { variable, type VariableDocument } from "../../steps/schema/variables.ts";
import { moduleOf, stepModules } from "../../steps/table.ts";
import { stepCondition, type StepConditionDocument } from "./conditions.ts";
import { failureStrategies, type FailureStrategyDocument } from "./failure-strategies.ts";
import { strategy, type StrategyDocument } from "./looping.ts";

const OTHER_STEPS = oneOf(
  `JiraApproval ServiceNowApproval JiraCreate JiraUpdate ServiceNowCreate ServiceNowUpdate
   ServiceNowImportSet Policy EventListener Command Run Background Action Plugin
   K8sRollingDeploy K8sRollingRollback K8sBlueGreenDeploy K8sBGSwapServices K8sBlueGreenStageScaleDown
   K8sCanaryDeploy K8sCanaryDelete K8sApply K8sDelete K8sScale K8sRollout K8sDryRun K8sDiff K8sPatch HelmDeploy
   HelmRollback TerraformPlan TerraformApply TerraformDestroy TerraformRollback Verify GitOpsSync
   ContainerStep Flag Container`,
);

const [firstType, ...otherTypes] = stepModules.map(({ type }) => type);
const stepType = choice(
  "Step type",
  [firstType ?? "", ...otherTypes],
  (type) => OTHER_STEPS(type) || type.endsWith("Approval"),
);

/** What steps and step groups have in common. */
type NodeDocument = {
  readonly name: string;
  readonly identifier: string;
  readonly description?: string | null | undefined;
  readonly timeout?: string | null | undefined;
  readonly when?: StepConditionDocument | null | undefined;
  readonly strategy?: StrategyDocument | null | undefined;
  readonly failureStrategies?: readonly FailureStrategyDocument[] | null | undefined;
};

/** `spec` is what the schema of the step's type reads; the module of that type knows its fields. */
export type StepDocument = NodeDocument & { readonly type: string; readonly spec: unknown };

export type StepGroupDocument = NodeDocument & {
  readonly steps: readonly StepItem[];
  readonly rollbackSteps?: readonly StepItem[] | null | undefined;
  readonly variables?: readonly VariableDocument[] | null | undefined;
  readonly delegateSelectors?: readonly string[] | string | null | undefined;
};

/** One of the three. */
export type StepItem = {
  readonly step?: StepDocument | undefined;
  readonly stepGroup?: StepGroupDocument | undefined;
  readonly parallel?: readonly StepItem[] | undefined;
};

export type ExecutionDocument = {
  readonly steps: readonly StepItem[];
  readonly rollbackSteps?: readonly StepItem[] | null | undefined;
};

const common = (phase: Phase) => ({
  name: name.describe("Shown in lists"),
  identifier: identifier.describe("For expressions; unique in its list"),
  description: description.describe("Any text"),
  when: stepCondition(phase).nullish().describe("Whether it runs"),
  strategy: strategy(phase).nullish().describe("Runs it several times"),
  failureStrategies: failureStrategies(phase).describe("What follows from a failure"),
});

const stepOfType = (type: string, phase: Phase) =>
  z
    .strictObject({
      type: z.literal(type).describe("The step type"),
      ...common(phase),
      timeout: timeout(phase).describe("How long it may run; `10m` where it is left out"),
      spec: moduleOf(type).schema(phase).describe("Fields of the step type"),
      ...allLater("enforce", "template"),
    })
    .describe(moduleOf(type).description);

export const stepSchema = (phase: Phase) =>
  typed(
    stepType,
    stepModules.map(({ type }) => stepOfType(type, phase)),
    allLater("template"),
  ) as unknown as z.ZodType<StepDocument>;

/** Step groups inside one another. */
export const MAX_GROUP_DEPTH = 8;

const tooDeep = z.unknown().refine(() => false, {
  error: `Step groups nest at most ${MAX_GROUP_DEPTH} deep (limit groupDepth)`,
});

const stepGroup = (phase: Phase, item: z.ZodType<StepItem>) =>
  z.strictObject({
    ...common(phase),
    timeout: timeout(phase).describe("How long it may run"),
    variables: namedList(variable(phase)).nullish().describe("`<+stepGroup.variables.NAME>`"),
    delegateSelectors: delegateSelectors(phase).describe("For its steps that have none"),
    ...stepLists(item),
    ...allLater("template", "stepGroupInfra", "sharedPaths"),
  });

const stepLists = (item: z.ZodType<StepItem>) => ({
  steps: z.array(item).min(1).describe("Run one after the other"),
  rollbackSteps: z.array(item).nullish().describe("Run when what stands around them is rolled back"),
});

/** Without the fields of its items, which are those of any other list of steps. */
export const stepGroupSchema = (phase: Phase) => stepGroup(phase, z.unknown() as unknown as z.ZodType<StepItem>);

/** An item of a list of steps; `depth` counts the step groups around it. */
function stepItem(phase: Phase, oneStep: z.ZodType<StepDocument>, depth: number): z.ZodType<StepItem> {
  const group =
    depth < MAX_GROUP_DEPTH
      ? defined(stepGroup(phase, stepItem(phase, oneStep, depth + 1)), "stepGroup")
      : (tooDeep as z.ZodType);
  const single = {
    step: oneStep.describe("One step"),
    stepGroup: group.describe("Steps with settings in common"),
    ...allLater("insert"),
  };
  const inParallel = z
    .array(oneOfFields({ ...single, ...allLater("parallel") }))
    .min(1)
    .max(MAX_PARALLEL, { error: TOO_MANY_PARALLEL })
    .describe("Steps and step groups that run at the same time");
  return defined(oneOfFields({ ...single, parallel: inParallel }), "stepItem") as unknown as z.ZodType<StepItem>;
}

/** `steps` and `rollbackSteps` of a stage. */
export const execution = (phase: Phase) =>
  z.strictObject(stepLists(stepItem(phase, stepSchema(phase), 0))) as unknown as z.ZodType<ExecutionDocument>;
