import { z } from "zod";
import {
  allLater,
  choice,
  delegateSelectors,
  description,
  identifier,
  later,
  name,
  oneOf,
  type Phase,
  text,
  timeout,
  typed,
} from "./fields.ts";
import { checkTarget, executionTarget } from "./target.ts";
import { environmentVariable, outputVariable } from "./variables.ts";

const OTHER_STEPS = oneOf(
  `Http CustomApproval JiraApproval ServiceNowApproval JiraCreate JiraUpdate ServiceNowCreate ServiceNowUpdate
   ServiceNowImportSet Barrier Queue Wait Email Policy EventListener Command Run Background Action Plugin
   K8sRollingDeploy K8sRollingRollback K8sBlueGreenDeploy K8sBGSwapServices K8sBlueGreenStageScaleDown
   K8sCanaryDeploy K8sCanaryDelete K8sApply K8sDelete K8sScale K8sRollout K8sDryRun K8sDiff K8sPatch HelmDeploy
   HelmRollback TerraformPlan TerraformApply TerraformDestroy TerraformRollback Verify GitOpsSync
   ContainerStep Flag Container`,
);

const stepType = choice("Step type", ["ShellScript"], (type) => OTHER_STEPS(type) || type.endsWith("Approval"));

const source = (phase: Phase) =>
  z.strictObject({
    type: choice("Script source", ["Inline"], () => false),
    spec: z.strictObject({ script: text(phase), file: later }),
  });

const shellScript = (phase: Phase) =>
  z
    .strictObject({
      shell: choice("Shell", ["Bash"], oneOf("PowerShell")),
      onDelegate: z.boolean().nullish(),
      errexit: z.boolean().nullish(),
      source: source(phase),
      environmentVariables: z.array(environmentVariable(phase)).nullish(),
      outputVariables: z.array(outputVariable).nullish(),
      executionTarget: executionTarget(phase).nullish(),
      delegateSelectors: delegateSelectors(phase),
      ...allLater("outputAlias", "includeInfraSelectors"),
    })
    .superRefine(checkTarget);

const step = (phase: Phase) =>
  typed(
    stepType,
    z.strictObject({
      type: z.literal("ShellScript"),
      name,
      identifier,
      description,
      timeout: timeout(phase),
      spec: shellScript(phase),
      ...allLater("when", "strategy", "failureStrategies", "enforce", "template"),
    }),
    allLater("template"),
  );

/** An item of `steps` or `rollbackSteps`. */
export const stepItem = (phase: Phase) =>
  z.strictObject({ step: step(phase), ...allLater("parallel", "stepGroup", "insert") });
