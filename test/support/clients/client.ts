/** A client of the public API that uses only `fetch`. */
import assert from "node:assert/strict";
import { until } from "../until.ts";
import { eventsOf, type StreamEvent } from "./event-stream.ts";
import { ORGANIZATION, PROJECT, type PipelineDocument } from "./pipeline.ts";

export type ClientFacts = { readonly baseUrl: string; readonly accountId: string; readonly apiKey: string };

// oxlint-disable-next-line typescript/no-explicit-any -- tests read arbitrary responses
type Body = any;
export type ClientAnswer = { readonly status: number; readonly text: string; readonly body: Body };

export type FollowOptions = { readonly lastEventId?: string; readonly query?: string };

export type Client = ReturnType<typeof createClient>;

const EXECUTIONS = "/pipeline/api/pipelines/execution";
const STATUS = "query ($id: String!) { execution(executionId: $id) { id status startedAt endedAt } }";

/** `project`: where its pipelines are, in the organization `default`. */
export function createClient({ baseUrl, accountId, apiKey }: ClientFacts, project = PROJECT) {
  const scope = `orgIdentifier=${ORGANIZATION}&projectIdentifier=${project}`;
  const address = (path: string): string =>
    `${baseUrl}/gateway${path}${path.includes("?") ? "&" : "?"}accountIdentifier=${accountId}`;

  async function send(method: string, path: string, body?: string, contentType?: string): Promise<ClientAnswer> {
    const headers = { "x-api-key": apiKey, ...(contentType === undefined ? {} : { "content-type": contentType }) };
    return answerOf(await fetch(address(path), { method, headers, ...(body === undefined ? {} : { body }) }));
  }

  async function sendJson(path: string, body: unknown): Promise<Body> {
    const answer = await send("POST", path, JSON.stringify(body), "application/json");
    assert.equal(answer.status, 200, answer.text);
    return answer.body.data ?? answer.body;
  }

  async function graphql(query: string, variables: unknown = null): Promise<Body> {
    const body = JSON.stringify({ query, variables });
    const answer = await send("POST", `/api/graphql?accountId=${accountId}`, body, "application/json");
    assert.equal(answer.status, 200, answer.text);
    return answer.body.data;
  }

  async function* follow(id: string, options: FollowOptions = {}): AsyncGenerator<StreamEvent> {
    const { lastEventId, query = "" } = options;
    const response = await fetch(address(`${EXECUTIONS}/${id}/logs/stream?${query}`), {
      headers: { "x-api-key": apiKey, ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }) },
    });
    assert.equal(response.status, 200);
    yield* eventsOf(response);
  }

  const detail = async (id: string): Promise<Body> => {
    const answer = await send("GET", `${EXECUTIONS}/${id}?${scope}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.body.data;
  };

  return {
    send,
    graphql,
    detail,
    follow,
    /** Creates the project and the service and the environment that its pipelines name. */
    makeProject: async () => {
      const place = { orgIdentifier: ORGANIZATION, projectIdentifier: project };
      await sendJson(`/ng/api/projects?orgIdentifier=${ORGANIZATION}`, {
        project: { name: "Shop", identifier: project, orgIdentifier: ORGANIZATION },
      });
      await sendJson("/ng/api/servicesV2", { name: "Shop", identifier: "shop", ...place });
      const environment = { name: "Staging", identifier: "staging", type: "PreProduction", ...place };
      await sendJson("/ng/api/environmentsV2", environment);
    },
    makePipeline: (document: PipelineDocument) => sendJson(`/pipeline/api/pipelines?${scope}`, document),
    /** Creates a webhook trigger for the pipeline and returns its address. */
    makeWebhook: async (pipelineIdentifier: string): Promise<string> => {
      const trigger = {
        name: "Called",
        identifier: "called",
        enabled: true,
        orgIdentifier: ORGANIZATION,
        projectIdentifier: project,
        pipelineIdentifier,
        source: { type: "Webhook", spec: { type: "Custom", spec: { payloadConditions: [], headerConditions: [] } } },
      };
      const made = await sendJson(`/pipeline/api/triggers?${scope}&targetIdentifier=${pipelineIdentifier}`, {
        trigger,
      });
      return made.webhookUrl as string;
    },
    /** Starts the pipeline with these inputs, which are YAML, and returns the id of the execution. */
    run: async (pipelineIdentifier: string, inputs?: string): Promise<string> => {
      const path = `/pipeline/api/pipeline/execute/${pipelineIdentifier}?${scope}`;
      const answer = await send("POST", path, inputs, inputs === undefined ? undefined : "application/yaml");
      assert.equal(answer.status, 200, answer.text);
      return answer.body.data.planExecution.uuid as string;
    },
    abort: (id: string): Promise<ClientAnswer> =>
      send("PUT", `/pipeline/api/pipeline/execute/interrupt/${id}?${scope}&interruptType=AbortAll`),
    log: async (id: string, query = ""): Promise<string> =>
      (await send("GET", `${EXECUTIONS}/${id}/logs?${query}`)).text,
    /** Waits until the call of a webhook has started its execution and returns the execution's id. */
    executionOf: async (apiUrl: string): Promise<string> => {
      const fate = await until(
        async () => (await answerOf(await fetch(apiUrl))).body.data.webhookProcessingDetails,
        (details) => details.pipelineExecutionId !== null || details.exceptionOccured,
      );
      assert.equal(fate.status, "TARGET_EXECUTION_REQUESTED", fate.message);
      return fate.pipelineExecutionId as string;
    },
    /** Waits for the end of an execution and returns its status from GraphQL. */
    end: async (id: string): Promise<string> => {
      let last: StreamEvent | undefined;
      for await (const event of follow(id)) last = event;
      assert.equal(last?.event, "end", "the log stream ended before the execution");
      assert.equal((await graphql(STATUS, { id })).execution.status, last.data.status);
      return last.data.status as string;
    },
    /** Returns the node of a step or stage from the execution's detail. */
    node: async (id: string, identifier: string): Promise<Body> => {
      const nodes: Body[] = Object.values((await detail(id)).executionGraph.nodeMap);
      const found = nodes.find((node) => node.identifier === identifier);
      assert.ok(found, `the execution has no node ${identifier}`);
      return found;
    },
  };
}

async function answerOf(response: Response): Promise<ClientAnswer> {
  const text = await response.text();
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined;
  }
  return { status: response.status, text, body };
}
