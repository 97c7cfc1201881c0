import { z } from "zod";
import {
  allLater,
  choice,
  description,
  identifier,
  name,
  oneOf,
  type Phase,
  timeout,
  typed,
} from "../../steps/schema/fields.ts";
import { moduleOf, stepModules } from "../../steps/table.ts";

const OTHER_STEPS = oneOf(
  `Http CustomApproval JiraApproval ServiceNowApproval JiraCreate JiraUpdate ServiceNowCreate ServiceNowUpdate
   ServiceNowImportSet Barrier Queue Wait Email Policy EventListener Command Run Background Action Plugin
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

/** `spec` is what the schema of the step's type reads; the module of that type knows its fields. */
export type StepDocument = {
  readonly type: string;
  readonly name: string;
  readonly identifier: string;
  readonly description?: string | null | undefined;
  readonly timeout?: string | null | undefined;
  readonly spec: unknown;
};

const stepOfType = (type: string, phase: Phase) =>
  z.strictObject({
    type: z.literal(type),
    name,
    identifier,
    description,
    timeout: timeout(phase),
    spec: moduleOf(type).schema(phase),
    ...allLater("when", "strategy", "failureStrategies", "enforce", "template"),
  });

const step = (phase: Phase): z.ZodType<StepDocument> =>
  typed(
    stepType,
    stepModules.map(({ type }) => stepOfType(type, phase)),
    allLater("template"),
  );

/** An item of `steps` or `rollbackSteps`. */
export const stepItem = (phase: Phase) =>
  z.strictObject({ step: step(phase), ...allLater("parallel", "stepGroup", "insert") });
