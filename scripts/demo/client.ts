/** What a script against the platform does, with nothing but `fetch`. */
import { setTimeout as rest } from "node:timers/promises";
import type { Facts } from "./server.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- answers are printed, not relied upon
type Data = any;

export type Client = ReturnType<typeof makeClient>;

const LATEST = `
query ($filters: [ExecutionFilter]) {
  executions(filters: $filters, limit: 1) {
    nodes { id application { name } status startedAt endedAt }
  }
}`;
const PIPELINES = "{ applications(limit: 10) { nodes { id name pipelines(limit: 10) { nodes { id name } } } } }";

export function makeClient({ baseUrl, accountId, apiKey }: Facts, signal: AbortSignal) {
  const headers = { "x-api-key": apiKey };

  async function answer(response: Response): Promise<Data> {
    const body: Data = await response.json();
    if (!response.ok)
      throw new Error(`${response.status} ${response.url}: ${String(body.message ?? JSON.stringify(body))}`);
    return body;
  }

  const withAccount = (path: string): string =>
    `${baseUrl}/gateway${path}${path.includes("?") ? "&" : "?"}accountIdentifier=${accountId}`;

  async function graphql(query: string, variables: unknown): Promise<Data> {
    const url = `${baseUrl}/gateway/api/graphql?accountId=${accountId}`;
    const body = JSON.stringify({ query, variables });
    const result = await answer(
      await fetch(url, { method: "POST", headers: { ...headers, "content-type": "application/json" }, body, signal }),
    );
    if (result.errors) throw new Error(`GraphQL: ${String(result.errors[0].message)}`);
    return result;
  }

  return {
    async send(path: string, contentType: string, body: string): Promise<Data> {
      const response = await fetch(withAccount(path), {
        method: "POST",
        headers: { ...headers, "content-type": contentType },
        body,
        signal,
      });
      return (await answer(response)).data;
    },
    async call(url: string, payload: unknown): Promise<Data> {
      const response = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(payload),
        signal,
      });
      return (await answer(response)).data;
    },
    /** Asks until the delivery has become an execution. */
    async executionOf(apiUrl: string): Promise<string> {
      for (;;) {
        const { webhookProcessingDetails: details } = (await answer(await fetch(apiUrl, { signal }))).data;
        if (details.pipelineExecutionId) return details.pipelineExecutionId as string;
        if (details.exceptionOccured) throw new Error(details.message as string);
        await rest(5, undefined, { signal });
      }
    },
    /** Prints what arrives; answers the final status. */
    async follow(execution: string, print: (text: string) => void): Promise<string> {
      const response = await fetch(withAccount(`/pipeline/api/pipelines/execution/${execution}/logs/stream`), {
        headers,
        signal,
      });
      for await (const { event, data } of eventsOf(response)) {
        if (event === "end") return data.status as string;
        print(data.text as string);
      }
      throw new Error("the log stream ended before the execution");
    },
    async latestExecution(pipeline: string): Promise<{ query: string; variables: unknown; answer: Data }> {
      const { data } = await graphql(PIPELINES, null);
      const found = data.applications.nodes.flatMap((one: Data) => one.pipelines.nodes)[0];
      if (!found) throw new Error(`GraphQL does not show the pipeline ${pipeline}`);
      const variables = { filters: [{ pipeline: { operator: "EQUALS", values: [found.id] } }] };
      return { query: LATEST, variables, answer: await graphql(LATEST, variables) };
    },
  };
}

async function* eventsOf(response: Response): AsyncIterable<{ event: string; data: Data }> {
  if (!response.body) return;
  let text = "";
  for await (const part of response.body.pipeThrough(new TextDecoderStream())) {
    text += part;
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const field = (name: string): string =>
        block
          .split("\n")
          .filter((row) => row.startsWith(`${name}: `))
          .map((row) => row.slice(name.length + 2))
          .join("\n");
      if (field("event")) yield { event: field("event"), data: JSON.parse(field("data")) };
    }
  }
}
