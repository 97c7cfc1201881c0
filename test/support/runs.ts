/**
 * Creates and starts pipelines and reads their executions. Everything is in the project `p` of the organization
 * `default`.
 */
import assert from "node:assert/strict";
import type { Answer, SendOptions } from "./platform.ts";

type Sender = { readonly send: (method: string, path: string, options?: SendOptions) => Promise<Answer> };

export const SCOPE = "orgIdentifier=default&projectIdentifier=p";
const JSON_TYPE = "application/json";

export type StepSketch = {
  readonly id: string;
  readonly script?: string;
  readonly timeout?: string;
  readonly selectors?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly outputs?: readonly string[];
  readonly secretOutputs?: readonly string[];
  /** The remote host that runs the step instead of the delegate. */
  readonly target?: { readonly host: string; readonly connectorRef: string; readonly workingDirectory?: string };
};

export type PipelineSketch = {
  readonly id: string;
  readonly steps: readonly StepSketch[];
  /** With rollback steps, any failure rolls the stage back. */
  readonly rollback?: readonly StepSketch[];
  /** The failure strategies of the stage in place of that. */
  readonly failureStrategies?: readonly unknown[];
  readonly variables?: Readonly<Record<string, string>>;
  /** A stage of this type has neither service nor environment. */
  readonly stageType?: "Custom" | "Approval";
  /** The environment of the stage. Default: `e`, which is not a production environment. */
  readonly environment?: string;
  /** The cluster of the stage's infrastructure. */
  readonly cluster?: { readonly connectorRef: string; readonly namespace: string; readonly releaseName: string };
};

/** Creates the project and these pipelines. The name of a pipeline equals its identifier. */
export async function createPipelines(to: Sender, ...sketches: readonly PipelineSketch[]): Promise<void> {
  const project = { name: "P", identifier: "p", orgIdentifier: "default" };
  const made = await to.send("POST", "/ng/api/projects?orgIdentifier=default", {
    contentType: JSON_TYPE,
    body: JSON.stringify({ project }),
  });
  assert.equal(made.status, 200, made.text);
  await createTargets(to);
  for (const sketch of sketches) await addPipeline(to, sketch);
}

/** Creates the service and the environment of the sketches. */
async function createTargets(to: Sender): Promise<void> {
  const scope = { orgIdentifier: "default", projectIdentifier: "p" };
  for (const [path, body] of [
    ["servicesV2", { name: "S", identifier: "s", ...scope }],
    ["environmentsV2", { name: "E", identifier: "e", type: "PreProduction", ...scope }],
  ] as const) {
    const made = await to.send("POST", `/ng/api/${path}`, { contentType: JSON_TYPE, body: JSON.stringify(body) });
    assert.equal(made.status, 200, made.text);
  }
}

export async function addPipeline(to: Sender, sketch: PipelineSketch): Promise<void> {
  const answer = await to.send("POST", `/pipeline/api/pipelines?${SCOPE}`, {
    contentType: JSON_TYPE,
    body: JSON.stringify({ pipeline: documentOf(sketch) }),
  });
  assert.equal(answer.status, 200, answer.text);
}

/** Executions of one pipeline do not wait for each other. */
const SIMULTANEOUS = { allowSimultaneousDeployments: true };

function documentOf({ id, steps, rollback, variables = {}, environment = "e", cluster, ...rest }: PipelineSketch) {
  const type = rest.stageType ?? "Deployment";
  const infrastructureDefinition = cluster && { type: "KubernetesDirect", spec: cluster };
  const infrastructure = { environmentRef: environment, ...(cluster && { infrastructureDefinition, ...SIMULTANEOUS }) };
  const execution = { steps: steps.map(stepOf), rollbackSteps: (rollback ?? []).map(stepOf) };
  const rollsBack = [{ onFailure: { errors: ["AllErrors"], action: { type: "StageRollback" } } }];
  const failureStrategies = rest.failureStrategies ?? (rollback ? rollsBack : []);
  return {
    name: id,
    identifier: id,
    orgIdentifier: "default",
    projectIdentifier: "p",
    variables: Object.entries(variables).map(([name, value]) => ({ name, type: "String", value })),
    stages: [
      {
        stage: {
          name: "Stage",
          identifier: "stage",
          type,
          failureStrategies,
          spec: {
            ...(type === "Deployment" && { serviceConfig: { serviceRef: "s" }, infrastructure }),
            execution,
          },
        },
      },
    ],
  };
}

const stepOf = ({
  id,
  script = "true",
  timeout = "10m",
  selectors = [],
  env = {},
  outputs = [],
  secretOutputs = [],
  target,
}: StepSketch) => ({
  step: {
    type: "ShellScript",
    name: id,
    identifier: id,
    timeout,
    spec: {
      shell: "Bash",
      ...(target ? { onDelegate: false, executionTarget: target } : {}),
      source: { type: "Inline", spec: { script } },
      delegateSelectors: selectors,
      environmentVariables: Object.entries(env).map(([name, value]) => ({ name, type: "String", value })),
      outputVariables: [
        ...outputs.map((name) => ({ name, type: "String", value: name })),
        ...secretOutputs.map((name) => ({ name, type: "Secret", value: name })),
      ],
    },
  },
});

/** Starts a run and returns its id. */
export async function startRun(to: Sender, pipeline: string, how: SendOptions = {}): Promise<string> {
  const answer = await to.send("POST", `/pipeline/api/pipeline/execute/${pipeline}?${SCOPE}`, how);
  assert.equal(answer.status, 200, answer.text);
  return answer.body.data.planExecution.uuid;
}

export const abortRun = (to: Sender, id: string): Promise<Answer> =>
  to.send("PUT", `/pipeline/api/pipeline/execute/interrupt/${id}?interruptType=AbortAll`);

// oxlint-disable-next-line typescript/no-explicit-any -- tests read arbitrary responses
type Node = Record<string, any>;

/** Returns the execution's detail; `step` finds a node by its identifier. */
export async function detailOf(to: Sender, id: string) {
  const answer = await to.send("GET", `/pipeline/api/pipelines/execution/${id}`);
  assert.equal(answer.status, 200, answer.text);
  const { pipelineExecutionSummary: summary, executionGraph: graph } = answer.body.data;
  const nodes = Object.values<Node>(graph.nodeMap);
  const step = (identifier: string): Node => {
    const found = nodes.find((node) => node["identifier"] === identifier);
    assert.ok(found, `no node ${identifier}`);
    return found;
  };
  return { summary, graph, status: summary.status as string, step };
}

/** Returns the status of a run and of some of its steps, for example `Failed build:Failed clean:Success`. */
export async function statusesOf(to: Sender, id: string, ...steps: readonly string[]): Promise<string> {
  const { status, step } = await detailOf(to, id);
  return [status, ...steps.map((name) => `${name}:${step(name)["status"]}`)].join(" ");
}

export const logOf = async (to: Sender, id: string, query = ""): Promise<string> =>
  (await to.send("GET", `/pipeline/api/pipelines/execution/${id}/logs${query}`)).text;

/** Waits on the event stream until the run has ended and returns its status. */
export async function waitForEnd(to: Sender, id: string): Promise<string> {
  const { text } = await to.send("GET", `/pipeline/api/pipelines/execution/${id}/logs/stream`);
  const last = /event: end\ndata: (.*)\n/.exec(text)?.[1];
  assert.ok(last, `the stream ended without an end: ${text.slice(-200)}`);
  return JSON.parse(last).status;
}
