import { z } from "zod";
import {
  allLater,
  choice,
  delegateSelectors,
  description,
  identifier,
  name,
  oneOf,
  type Phase,
  tags,
  text,
  typed,
} from "../../steps/schema/fields.ts";
import { stepItem } from "./step.ts";
import { variable } from "../../steps/schema/variables.ts";

const stageType = choice(
  "Stage type",
  ["Deployment"],
  oneOf("Approval Custom Pipeline CI FeatureFlag Security SecurityTests IACM Dynamic IDP"),
);

const OTHER_DEPLOYMENTS = oneOf(
  `NativeHelm Ssh WinRm ServerlessAwsLambda AzureWebApp AzureFunction CustomDeployment ECS Elastigroup TAS Asg
   GoogleCloudFunctions AwsLambda AWS_SAM GoogleCloudRun GoogleManagedInstanceGroup`,
);

const OTHER_INFRASTRUCTURES = oneOf(
  `KubernetesGcp KubernetesAzure KubernetesAws KubernetesRancher Pdc SshWinRmAws SshWinRmAzure ServerlessAwsLambda
   AzureWebApp AzureFunction CustomDeployment ECS Elastigroup TAS Asg GoogleCloudFunctions AwsLambda AWS_SAM
   GoogleCloudRun`,
);

const OTHER_ERRORS = oneOf(
  `Unknown Authentication Connectivity Timeout Authorization Verification DelegateProvisioning PolicyEvaluationFailure
   InputTimeoutError ApprovalRejection DelegateRestart UserMarkedFailure InfrastructureFailure PluginImageFailure
   ResourceLimitsFailure ConfigurationFailure RetryableTransientFailure`,
);

const OTHER_ACTIONS = oneOf(
  `Ignore Retry MarkAsSuccess MarkAsFailure Abort StepGroupRollback PipelineRollback ManualIntervention
   ProceedWithDefaultValues RetryStepGroup`,
);

const failureStrategy = z.strictObject({
  onFailure: z.strictObject({
    errors: z.array(choice("Failure error", ["AllErrors"], OTHER_ERRORS)).min(1),
    action: typed(choice("Failure action", ["StageRollback"], OTHER_ACTIONS), [
      z.strictObject({ type: z.literal("StageRollback"), ...allLater("spec") }),
    ]),
  }),
});

const serviceSpec = (phase: Phase) =>
  z.strictObject({
    variables: z.array(variable(phase)).nullish(),
    ...allLater("artifacts", "manifests", "configFiles", "manifestConfigurations", "hooks", "release"),
    ...allLater("artifactOverrideSets", "manifestOverrideSets", "variableOverrideSets"),
  });

const serviceConfig = (phase: Phase) =>
  z.strictObject({
    serviceRef: text(phase),
    serviceDefinition: typed(choice("Service type", ["Kubernetes"], OTHER_DEPLOYMENTS), [
      z.strictObject({ type: z.literal("Kubernetes"), spec: serviceSpec(phase).nullish() }),
    ]).nullish(),
    ...allLater("service", "useFromStage", "stageOverrides"),
  });

const infrastructure = (phase: Phase) =>
  z.strictObject({
    environmentRef: text(phase),
    infrastructureDefinition: typed(choice("Infrastructure type", ["KubernetesDirect"], OTHER_INFRASTRUCTURES), [
      z.strictObject({
        type: z.literal("KubernetesDirect"),
        spec: z.strictObject({ connectorRef: text(phase), namespace: text(phase), releaseName: text(phase) }),
        ...allLater("provisioner"),
      }),
    ]).nullish(),
    allowSimultaneousDeployments: z.boolean().nullish(),
    ...allLater("environment", "infrastructureKey", "useFromStage", "onDelegate"),
  });

const deploymentSpec = (phase: Phase) =>
  z.strictObject({
    deploymentType: choice("Deployment type", ["Kubernetes"], OTHER_DEPLOYMENTS).nullish(),
    serviceConfig: serviceConfig(phase),
    infrastructure: infrastructure(phase),
    execution: z.strictObject({
      steps: z.array(stepItem(phase)).min(1),
      rollbackSteps: z.array(stepItem(phase)).nullish(),
    }),
    ...allLater("service", "services", "environment", "environments", "environmentGroup", "gitOpsEnabled"),
  });

const deploymentStage = (phase: Phase) =>
  z.strictObject({
    name,
    identifier,
    description,
    type: z.literal("Deployment"),
    tags,
    variables: z.array(variable(phase)).nullish(),
    delegateSelectors: delegateSelectors(phase),
    // With AllErrors as the only error, a second strategy could never apply.
    failureStrategies: z.array(failureStrategy).max(1).nullish(),
    spec: deploymentSpec(phase),
    ...allLater("when", "strategy", "timeout", "runMode", "skipInstances", "template"),
  });

const stage = (phase: Phase) => typed(stageType, [deploymentStage(phase)], allLater("template"));

/** An item of `stages`. */
export const stageItem = (phase: Phase) =>
  z.strictObject({ stage: stage(phase), ...allLater("parallel", "insert", "group") });
