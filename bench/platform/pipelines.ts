/** Pipelines of the benchmarks: one Deployment stage with a number of inline steps that run the same script. */
import type { Client, Exchange } from "./client.ts";

export const SCOPE = "orgIdentifier=default&projectIdentifier=bench";

/** Creates the project and the service and environment that its pipelines refer to. */
export async function createProject(client: Client): Promise<void> {
  await client.post(
    "/ng/api/projects?orgIdentifier=default",
    "project: { name: Bench, orgIdentifier: default, identifier: bench }",
  );
  const named = "name: Bench, identifier: bench, orgIdentifier: default, projectIdentifier: bench";
  await client.post("/ng/api/servicesV2", `service: { ${named} }`);
  await client.post("/ng/api/environmentsV2", `environment: { ${named}, type: PreProduction }`);
}

/** Creates a pipeline; returns its identifier. */
export function createPipeline(client: Client, identifier: string, steps: number, script: string): Promise<string> {
  return client.post<string>(`/pipeline/api/pipelines?${SCOPE}`, pipelineYaml(identifier, steps, script));
}

/** Creates a webhook trigger for the pipeline; returns the webhook's URL. */
export async function createWebhook(client: Client, pipeline: string): Promise<string> {
  const { webhookUrl } = await client.post<{ webhookUrl: string }>(
    `/pipeline/api/triggers?${SCOPE}&targetIdentifier=${pipeline}`,
    `trigger:
  name: Call
  identifier: call_${pipeline}
  enabled: true
  orgIdentifier: default
  projectIdentifier: bench
  pipelineIdentifier: ${pipeline}
  source: { type: Webhook, spec: { type: Custom, spec: { payloadConditions: [], headerConditions: [] } } }
`,
  );
  return webhookUrl;
}

export type Started = { readonly planExecution: { readonly uuid: string } };

/** Starts an execution; returns its wire id. */
export async function execute(client: Client, pipeline: string): Promise<string> {
  const started = await client.post<Started>(`/pipeline/api/pipeline/execute/${pipeline}?${SCOPE}`);
  return started.planExecution.uuid;
}

/** The wire id of the execution that a delivery started. Throws if it started none. */
export async function executionOf(client: Client, delivery: Exchange): Promise<string> {
  const { data } = JSON.parse(delivery.body) as { data: { apiUrl: string } };
  const details = JSON.parse(await client.text(data.apiUrl)) as {
    data: { webhookProcessingDetails: { pipelineExecutionId: string | null; message: string } };
  };
  const { pipelineExecutionId, message } = details.data.webhookProcessingDetails;
  if (pipelineExecutionId === null) throw new Error(`the delivery started nothing: ${message}`);
  return pipelineExecutionId;
}

/** Waits for the end of an execution by its log stream; returns its log. Throws unless it succeeded. */
export async function logOf(client: Client, execution: string): Promise<string> {
  const stream = await client.text(`/pipeline/api/pipelines/execution/${execution}/logs/stream`);
  const events = stream.split("\n\n").map((block) => ({
    event: /^event: (.*)$/m.exec(block)?.[1],
    data: /^data: (.*)$/m.exec(block)?.[1] ?? "null",
  }));
  const end = events.find(({ event }) => event === "end");
  if (!end?.data.includes("SUCCESS")) throw new Error(`execution ${execution} did not succeed: ${end?.data ?? stream}`);
  return events
    .filter(({ event }) => event === "log")
    .map(({ data }) => (JSON.parse(data) as { text: string }).text)
    .join("");
}

function pipelineYaml(identifier: string, steps: number, script: string): string {
  return `pipeline:
  name: ${identifier}
  identifier: ${identifier}
  projectIdentifier: bench
  orgIdentifier: default
  stages:
    - stage:
        name: Only
        identifier: only
        type: Deployment
        spec:
          serviceConfig:
            serviceRef: bench
            serviceDefinition: { type: Kubernetes, spec: { variables: [] } }
          infrastructure:
            environmentRef: bench
            allowSimultaneousDeployments: true
          execution:
            steps:
${Array.from({ length: steps }, (_, n) => stepYaml(n + 1, script)).join("")}            rollbackSteps: []
        failureStrategies:
          - onFailure: { errors: [AllErrors], action: { type: StageRollback } }
`;
}

const stepYaml = (n: number, script: string): string => `              - step:
                  type: ShellScript
                  name: Step ${n}
                  identifier: step_${n}
                  spec:
                    shell: Bash
                    onDelegate: true
                    source: { type: Inline, spec: { script: ${JSON.stringify(script)} } }
                    environmentVariables: []
                    outputVariables: []
                    executionTarget: {}
                  timeout: 1m
`;
