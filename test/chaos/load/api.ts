/** A client with plain requests and a time limit. Its connections may break at any time. */
import { ORGANIZATION, PROJECT, type PipelineDocument } from "../../support/clients/pipeline.ts";

export type ApiFacts = { readonly baseUrl: string; readonly accountId: string; readonly apiKey: string };
export type Answer = { readonly status: number; readonly text: string; readonly body: Body };
// oxlint-disable-next-line typescript/no-explicit-any -- tests read arbitrary responses
type Body = any;
export type Interrupt = "AbortAll" | "Pause" | "Resume" | "MarkAsSuccess" | "Ignore";

const SCOPE = `orgIdentifier=${ORGANIZATION}&projectIdentifier=${PROJECT}`;
const REQUEST_MS = 10_000;
const CREATE_SECRET = "mutation ($input: CreateSecretInput!) { createSecret(input: $input) { secret { id } } }";

export type Api = ReturnType<typeof createApi>;

export function createApi({ baseUrl, accountId, apiKey }: ApiFacts) {
  const withAccount = (path: string): string =>
    `${baseUrl}/gateway${path}${path.includes("?") ? "&" : "?"}accountIdentifier=${accountId}`;

  /** Rejects if there is no response within ten seconds. */
  async function request(method: string, path: string, body?: unknown): Promise<Answer> {
    return fetched(withAccount(path), {
      method,
      headers: { "x-api-key": apiKey, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  async function expectOk(method: string, path: string, body?: unknown): Promise<Body> {
    const { status, text, body: answer } = await request(method, path, body);
    if (status !== 200) throw new Error(`${method} ${path} got the response ${status}: ${text}`);
    return answer.data ?? answer;
  }

  async function graphql(query: string, variables: unknown): Promise<Body> {
    return expectOk("POST", `/api/graphql?accountId=${accountId}`, { query, variables });
  }

  return {
    request,
    createDelegateToken: async (name: string): Promise<string> =>
      ((await request("POST", `/ng/api/delegate-token-ng?tokenName=${name}`)).body.resource as { value: string }).value,
    createProject: async (): Promise<void> => {
      const scope = { orgIdentifier: ORGANIZATION, projectIdentifier: PROJECT };
      const project = { name: "Shop", identifier: PROJECT, orgIdentifier: ORGANIZATION };
      await expectOk("POST", `/ng/api/projects?orgIdentifier=${ORGANIZATION}`, { project });
      await expectOk("POST", "/ng/api/servicesV2", { name: "Shop", identifier: "shop", ...scope });
      const environment = { name: "Staging", identifier: "staging", type: "PreProduction", ...scope };
      await expectOk("POST", "/ng/api/environmentsV2", environment);
    },
    createSecret: async (name: string, value: string): Promise<void> => {
      const input = { secretType: "ENCRYPTED_TEXT", encryptedText: { name, value } };
      const { createSecret } = await graphql(CREATE_SECRET, { input });
      if (!createSecret?.secret) throw new Error(`The secret ${name} was not created.`);
    },
    createPipeline: async (document: PipelineDocument): Promise<void> => {
      await expectOk("POST", `/pipeline/api/pipelines?${SCOPE}`, document);
    },
    /** Creates a webhook trigger. Returns the path and the query of its address. */
    createWebhook: async (pipeline: string): Promise<string> => {
      const trigger = {
        name: pipeline,
        identifier: pipeline,
        enabled: true,
        orgIdentifier: ORGANIZATION,
        projectIdentifier: PROJECT,
        pipelineIdentifier: pipeline,
        source: { type: "Webhook", spec: { type: "Custom", spec: { payloadConditions: [], headerConditions: [] } } },
      };
      const made = await expectOk("POST", `/pipeline/api/triggers?${SCOPE}&targetIdentifier=${pipeline}`, { trigger });
      const { pathname, search } = new URL(made.webhookUrl as string);
      return `${pathname}${search}`;
    },
    /** Starts a pipeline with the input `number`. */
    start: (pipeline: string, number: number): Promise<Answer> =>
      request("POST", `/pipeline/api/pipeline/execute/${pipeline}?${SCOPE}`, {
        pipeline: { identifier: pipeline, variables: [{ name: "number", type: "String", value: String(number) }] },
      }),
    deliver: (webhook: string, number: number): Promise<Answer> =>
      fetched(`${baseUrl}${webhook}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ number }),
      }),
    /** Interrupts an execution, or the node of it. */
    interrupt: (id: string, type: Interrupt, node?: string): Promise<Answer> =>
      request(
        "PUT",
        `/pipeline/api/pipeline/execute/interrupt/${id}${node ? `/${node}` : ""}?${SCOPE}&interruptType=${type}`,
      ),
    /** Returns the id of the step with this identifier once it waits for an intervention. */
    intervention: async (id: string, identifier: string): Promise<string | undefined> => {
      const { executionGraph } = await expectOk("GET", `/pipeline/api/pipelines/execution/${id}?${SCOPE}`);
      const nodes: Body[] = Object.values(executionGraph.nodeMap);
      return nodes.find((node) => node.identifier === identifier && node.status === "InterventionWaiting")?.uuid;
    },
    /** Returns the id of the approval that the execution waits for. */
    approval: async (id: string): Promise<string | undefined> => {
      const path = `/v1/orgs/${ORGANIZATION}/projects/${PROJECT}/approvals/execution/${id}?approval_status=WAITING`;
      return (await expectOk("GET", path))[0]?.id;
    },
    decide: (approval: string, action: "APPROVE" | "REJECT", apiKey: string): Promise<Answer> =>
      createApi({ baseUrl, accountId, apiKey }).request(
        "POST",
        `/pipeline/api/approvals/${approval}/platform/activity`,
        {
          action,
        },
      ),
    /** Creates a service account that may see everything. Returns its token. */
    createServiceAccount: async (identifier: string): Promise<string> => {
      const { serviceAccount } = await expectOk("POST", "/ng/api/serviceaccount", { identifier, name: identifier });
      await expectOk("POST", "/authz/api/roleassignments", {
        principal: { identifier: serviceAccount?.identifier ?? identifier, type: "SERVICE_ACCOUNT" },
        ...{ roleIdentifier: "_account_viewer", resourceGroupIdentifier: "_all_resources_including_child_scopes" },
      });
      const owner = { apiKeyType: "SERVICE_ACCOUNT", parentIdentifier: identifier };
      await expectOk("POST", "/ng/api/apikey", { ...owner, identifier: "k", name: "k" });
      return expectOk("POST", "/ng/api/token", { ...owner, apiKeyIdentifier: "k", identifier: "t", name: "t" });
    },
    status: async (id: string): Promise<string> => {
      const query = "query ($id: String!) { execution(executionId: $id) { status } }";
      return (await graphql(query, { id })).execution.status as string;
    },
    log: async (id: string): Promise<string> =>
      (await request("GET", `/pipeline/api/pipelines/execution/${id}/logs`)).text,
  };
}

async function fetched(url: string, options: RequestInit): Promise<Answer> {
  const response = await fetch(url, { ...options, signal: AbortSignal.timeout(REQUEST_MS) });
  const text = await response.text();
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined;
  }
  return { status: response.status, text, body };
}
