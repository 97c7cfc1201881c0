/** `spec` of a stage of the type Deployment. */
import { z } from "zod";
import { allLater, choice, namedList, oneOf, type Phase, text, typed } from "../../steps/schema/fields.ts";
import { variable } from "../../steps/schema/variables.ts";
import type { Form } from "./form.ts";
import { execution } from "./step.ts";

const OTHER_DEPLOYMENTS = oneOf(
  `NativeHelm Ssh WinRm ServerlessAwsLambda AzureWebApp AzureFunction CustomDeployment ECS Elastigroup TAS Asg
   GoogleCloudFunctions AwsLambda AWS_SAM GoogleCloudRun GoogleManagedInstanceGroup`,
);

const OTHER_INFRASTRUCTURES = oneOf(
  `KubernetesGcp KubernetesAzure KubernetesAws KubernetesRancher Pdc SshWinRmAws SshWinRmAzure ServerlessAwsLambda
   AzureWebApp AzureFunction CustomDeployment ECS Elastigroup TAS Asg GoogleCloudFunctions AwsLambda AWS_SAM
   GoogleCloudRun`,
);

const serviceSpec = (phase: Phase) =>
  z.strictObject({
    variables: namedList(variable(phase)).nullish(),
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

export const deploymentSpec = (form: Form) =>
  z.strictObject({
    deploymentType: choice("Deployment type", ["Kubernetes"], OTHER_DEPLOYMENTS).nullish(),
    serviceConfig: serviceConfig(form.phase),
    infrastructure: infrastructure(form.phase),
    execution: execution(form).describe("What it runs"),
    ...allLater("service", "services", "environment", "environments", "environmentGroup", "gitOpsEnabled"),
  });
