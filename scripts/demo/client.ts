/** A client of the platform with `fetch` only, as in a user's script. */
import { setTimeout as rest } from "node:timers/promises";
import { eventsOf } from "./events.ts";
import type { Facts } from "./server.ts";

type DeliveryDetails = {
  readonly webhookProcessingDetails: {
    readonly pipelineExecutionId: string | null;
    readonly exceptionOccured: boolean;
    readonly message: string;
  };
};
type Graphql<T> = { readonly data: T; readonly errors?: readonly { readonly message: string }[] };
type Nodes<T> = { readonly nodes: readonly T[] };
type Applications = { readonly applications: Nodes<{ readonly pipelines: Nodes<{ readonly id: string }> }> };

export type Client = ReturnType<typeof createClient>;

const LATEST = `
query ($filters: [ExecutionFilter]) {
  executions(filters: $filters, limit: 1) {
    nodes { id application { name } status startedAt endedAt }
  }
}`;
const PIPELINES = "{ applications(limit: 10) { nodes { pipelines(limit: 10) { nodes { id } } } } }";

/** The parsed body of an answer. Throws with its message unless the status is a success. */
async function bodyOf<T>(response: Response): Promise<T> {
  const body = (await response.json()) as T & { readonly message?: string };
  if (!response.ok) throw new Error(`${response.status} ${response.url}: ${body.message ?? JSON.stringify(body)}`);
  return body;
}

const dataOf = async <T>(response: Response): Promise<T> => (await bodyOf<{ readonly data: T }>(response)).data;

export function createClient({ baseUrl, accountId, apiKey }: Facts, signal: AbortSignal) {
  const post = (url: string, type: string, body: string): Promise<Response> =>
    fetch(url, { method: "POST", headers: { "x-api-key": apiKey, "content-type": type }, body, signal });

  const withAccount = (path: string): string =>
    `${baseUrl}/gateway${path}${path.includes("?") ? "&" : "?"}accountIdentifier=${accountId}`;

  async function graphql<T>(query: string, variables: unknown): Promise<Graphql<T>> {
    const url = `${baseUrl}/gateway/api/graphql?accountId=${accountId}`;
    const answer = await bodyOf<Graphql<T>>(await post(url, "application/json", JSON.stringify({ query, variables })));
    if (answer.errors) throw new Error(`GraphQL: ${answer.errors[0]?.message ?? "failed"}`);
    return answer;
  }

  return {
    send: async <T>(path: string, type: string, body: string): Promise<T> =>
      dataOf<T>(await post(withAccount(path), type, body)),
    /** Calls a webhook without a credential. */
    call: async (url: string, payload: unknown): Promise<{ readonly apiUrl: string }> =>
      dataOf(
        await fetch(url, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(payload),
          signal,
        }),
      ),
    /** Polls until the delivery has started an execution; returns its id. Throws if it fails. */
    async executionOf(apiUrl: string): Promise<string> {
      for (;;) {
        const { webhookProcessingDetails: details } = await dataOf<DeliveryDetails>(await fetch(apiUrl, { signal }));
        if (details.pipelineExecutionId) return details.pipelineExecutionId;
        if (details.exceptionOccured) throw new Error(details.message);
        await rest(5, undefined, { signal });
      }
    },
    /** Streams the log to `print`; returns the final status. */
    async follow(execution: string, print: (text: string) => void): Promise<string> {
      const url = withAccount(`/pipeline/api/pipelines/execution/${execution}/logs/stream`);
      for await (const { event, data } of eventsOf(await fetch(url, { headers: { "x-api-key": apiKey }, signal }))) {
        if (event === "end") return (JSON.parse(data) as { status: string }).status;
        print((JSON.parse(data) as { text: string }).text);
      }
      throw new Error("the log stream ended before the execution");
    },
    /** The newest execution of the account's only pipeline, with the query and its variables. */
    async latestExecution(): Promise<{ query: string; variables: unknown; answer: unknown }> {
      const { data } = await graphql<Applications>(PIPELINES, null);
      const [pipeline] = data.applications.nodes.flatMap((application) => application.pipelines.nodes);
      if (!pipeline) throw new Error("GraphQL shows no pipeline");
      const variables = { filters: [{ pipeline: { operator: "EQUALS", values: [pipeline.id] } }] };
      return { query: LATEST, variables, answer: await graphql(LATEST, variables) };
    },
  };
}
