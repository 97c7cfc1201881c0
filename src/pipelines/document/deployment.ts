/** `spec` of a stage of the type Deployment. */
import { z } from "zod";
import { allLater, choice, namedList, oneOf, type Phase, text, typed } from "../../steps/schema/fields.ts";
import { variable } from "../../steps/schema/variables.ts";
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
    variables: namedList(variable(phase)).nullish().describe("Variables of the service"),
    ...allLater("artifacts", "manifests", "configFiles", "manifestConfigurations", "hooks", "release"),
    ...allLater("artifactOverrideSets", "manifestOverrideSets", "variableOverrideSets"),
  });

const serviceConfig = (phase: Phase) =>
  z.strictObject({
    serviceRef: text(phase).describe("A service"),
    serviceDefinition: typed(choice("Service type", ["Kubernetes"], OTHER_DEPLOYMENTS), [
      z.strictObject({
        type: z.literal("Kubernetes").describe("The type of the service"),
        spec: serviceSpec(phase).nullish().describe("What the service says"),
      }),
    ])
      .nullish()
      .describe("What the pipeline says of the service"),
    ...allLater("service", "useFromStage", "stageOverrides"),
  });

const infrastructure = (phase: Phase) =>
  z.strictObject({
    environmentRef: text(phase).describe("An environment"),
    infrastructureDefinition: typed(choice("Infrastructure type", ["KubernetesDirect"], OTHER_INFRASTRUCTURES), [
      z.strictObject({
        type: z.literal("KubernetesDirect").describe("The type of the infrastructure"),
        spec: z
          .strictObject({
            connectorRef: text(phase).describe("A connector"),
            namespace: text(phase).describe("A namespace of the cluster"),
            releaseName: text(phase).describe("The name of the release"),
          })
          .describe("Where the stage deploys to"),
        ...allLater("provisioner"),
      }),
    ])
      .nullish()
      .describe("The infrastructure"),
    allowSimultaneousDeployments: z
      .boolean()
      .nullish()
      .describe("Whether two executions may deploy to it at the same time"),
    ...allLater("environment", "infrastructureKey", "useFromStage", "onDelegate"),
  });

export const deploymentSpec = (phase: Phase) =>
  z.strictObject({
    deploymentType: choice("Deployment type", ["Kubernetes"], OTHER_DEPLOYMENTS)
      .nullish()
      .describe("The type of the service"),
    serviceConfig: serviceConfig(phase).describe("What is deployed"),
    infrastructure: infrastructure(phase).describe("Where it is deployed"),
    execution: execution(phase).describe("What it runs"),
    ...allLater("service", "services", "environment", "environments", "environmentGroup", "gitOpsEnabled"),
  });
