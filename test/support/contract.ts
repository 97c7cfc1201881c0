/** Documents that tests send, and functions that create resources from them. */
import assert from "node:assert/strict";
import type { Answer, TestPlatform } from "./platform.ts";

export const SCOPE = "orgIdentifier=default&projectIdentifier=shop";
export const YAML = "application/yaml";
export const JSON_TYPE = "application/json";

export const projectYaml = (identifier = "shop", more = ""): string =>
  `project:\n  name: The shop\n  orgIdentifier: default\n  identifier: ${identifier}\n${more}`;

export const connectorYaml = (identifier = "registry", more = ""): string => `connector:
  name: Registry
  identifier: ${identifier}
${more}  type: ContainerRegistry
  spec:
    registryUrl: https://registry.example.com/v2/
    providerType: PublicHosted
    auth:
      type: Anonymous
`;

/** A cluster with the identity of the delegates that have a tag. */
export const clusterYaml = (identifier = "cluster", more = "", tag = "near"): string => `connector:
  name: Cluster
  identifier: ${identifier}
${more}  type: K8sCluster
  spec:
    credential: { type: InheritFromDelegate }
    delegateSelectors: [${tag}]
`;

/** One stage with one step whose variable VALUE has the given value. */
export const pipelineYaml = (identifier = "deploy", value = "none", more = ""): string => `pipeline:
  name: ${identifier.replaceAll("_", " ")}
  identifier: ${identifier}
  orgIdentifier: default
  projectIdentifier: shop
${more}  stages:
    - stage:
        name: Build
        identifier: build
        type: Deployment
        spec:
          serviceConfig: { serviceRef: web, serviceDefinition: { type: Kubernetes, spec: { variables: [] } } }
          infrastructure:
            environmentRef: staging
            allowSimultaneousDeployments: true
          execution:
            steps:
              - step:
                  type: ShellScript
                  name: Go
                  identifier: go
                  timeout: 1m
                  spec:
                    shell: Bash
                    onDelegate: true
                    source: { type: Inline, spec: { script: echo $VALUE } }
                    environmentVariables: [{ name: VALUE, type: String, value: '${value}' }]
                    outputVariables: []
                    executionTarget: {}
            rollbackSteps: []
        failureStrategies: [{ onFailure: { errors: [AllErrors], action: { type: StageRollback } } }]
`;

/** The pipeline with a cluster in its infrastructure, whose steps then get a kubeconfig. */
export const onCluster = (pipeline: string): string =>
  pipeline.replace(
    "environmentRef: staging\n",
    `environmentRef: staging
            infrastructureDefinition:
              type: KubernetesDirect
              spec: { connectorRef: cluster, namespace: web, releaseName: web }
`,
  );

export const triggerYaml = (pipeline = "deploy", identifier = "hook", more = ""): string => `trigger:
  name: Hook
  identifier: ${identifier}
  orgIdentifier: default
  projectIdentifier: shop
  pipelineIdentifier: ${pipeline}
${more}  source: { type: Webhook, spec: { type: Custom, spec: { payloadConditions: [], headerConditions: [] } } }
`;

/** `given` is the YAML below `pipeline`. */
export const inputSetYaml = (pipeline: string, identifier: string, given = "", more = ""): string => `inputSet:
  name: ${identifier.replaceAll("_", " ")}
  identifier: ${identifier}
  orgIdentifier: default
  projectIdentifier: shop
${more}  pipeline:
    identifier: ${pipeline}
${given}`;

export const overlayYaml = (identifier: string, references: string): string => `overlayInputSet:
  name: ${identifier}
  identifier: ${identifier}
  inputSetReferences: [${references}]
`;

/** Creates the service and the environment of the sample pipeline in the project. */
export async function createTargets(on: TestPlatform): Promise<void> {
  const inShop = "  orgIdentifier: default\n  projectIdentifier: shop\n";
  await made(create.connector(on, clusterYaml("cluster", inShop)));
  await made(create.service(on, "web", inShop));
  await made(create.environment(on, "staging", inShop));
}

export const create = {
  project: (on: TestPlatform, body: string, contentType = YAML): Promise<Answer> =>
    on.send("POST", "/gateway/ng/api/projects?orgIdentifier=default", { contentType, body }),
  connector: (on: TestPlatform, body: string, contentType = "text/yaml"): Promise<Answer> =>
    on.send("POST", "/gateway/ng/api/connectors", { contentType, body }),
  /** `scope` is YAML of the document, as in connectorYaml. */
  service: (on: TestPlatform, identifier: string, scope = ""): Promise<Answer> => {
    const body = `service:\n  name: ${identifier}\n  identifier: ${identifier}\n${scope}`;
    return on.send("POST", "/gateway/ng/api/servicesV2", { contentType: YAML, body });
  },
  environment: (on: TestPlatform, identifier: string, scope = ""): Promise<Answer> => {
    const body = `environment:\n  name: ${identifier}\n  identifier: ${identifier}\n  type: PreProduction\n${scope}`;
    return on.send("POST", "/gateway/ng/api/environmentsV2", { contentType: YAML, body });
  },
  smtpConfig: (on: TestPlatform, changes: object = {}): Promise<Answer> => {
    const login = { username: "ci@example.com", password: "correct horse" };
    const value = { host: "192.0.2.25", port: 587, startTLS: true, ...login, ...changes };
    const body = JSON.stringify({ name: "Mail server", value });
    return on.send("POST", "/ng/api/smtpConfig", { contentType: JSON_TYPE, body });
  },
  pipeline: (on: TestPlatform, body: string, contentType = YAML): Promise<Answer> =>
    on.send("POST", `/gateway/pipeline/api/pipelines?${SCOPE}`, { contentType, body }),
  trigger: (on: TestPlatform, pipeline: string, body: string, contentType = YAML): Promise<Answer> =>
    on.send("POST", `/gateway/pipeline/api/triggers?${SCOPE}&targetIdentifier=${pipeline}`, { contentType, body }),
  inputSet: (on: TestPlatform, pipeline: string, body: string, contentType = YAML): Promise<Answer> =>
    on.send("POST", `/gateway/pipeline/api/inputSets?${SCOPE}&pipelineIdentifier=${pipeline}`, { contentType, body }),
  overlay: (on: TestPlatform, pipeline: string, body: string, contentType = YAML): Promise<Answer> =>
    on.send("POST", `/gateway/pipeline/api/inputSets/overlay?${SCOPE}&pipelineIdentifier=${pipeline}`, {
      contentType,
      body,
    }),
  run: (on: TestPlatform, pipeline: string, body?: string): Promise<Answer> =>
    on.send("POST", `/gateway/pipeline/api/pipeline/execute/${pipeline}?${SCOPE}`, {
      contentType: YAML,
      ...(body === undefined ? {} : { body }),
    }),
} as const;

/** Asserts that the response is a success and returns its data. */
export async function made(answer: Promise<Answer>) {
  const { status, text, body } = await answer;
  assert.equal(status, 200, text);
  assert.equal(body.status, "SUCCESS");
  return body.data;
}

/**
 * Repeats the query until it returns a value. Each attempt is a round trip to the database, so the loop does not
 * spin.
 */
export async function eventually<T>(ask: () => Promise<T | undefined>): Promise<T> {
  for (let round = 0; round < 2_000; round += 1) {
    const found = await ask();
    if (found !== undefined) return found;
  }
  throw new Error("The query has not returned a value.");
}
