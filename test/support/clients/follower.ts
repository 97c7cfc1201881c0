/** A client of an event stream: lays the events over each other as docs/api/executions.md says. */
import assert from "node:assert/strict";
import { eventsOf, type StreamEvent } from "./event-stream.ts";
import type { TestPlatform } from "../platform.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- tests read arbitrary responses
type Json = any;

export type Follower = {
  /** What the client shows; undefined before the first snapshot. */
  readonly shown: () => Json;
  readonly logs: () => Readonly<Record<string, number>>;
  readonly lines: () => Readonly<Record<string, number>>;
  readonly lastEventId: () => string | undefined;
  readonly status: () => string | undefined;
  readonly events: readonly StreamEvent[];
  /** Reads until the condition holds. Fails when the stream ends before it. */
  readonly until: (condition: () => boolean) => Promise<void>;
  /** Reads events until the stream ends; at most this number. */
  readonly read: (most?: number) => Promise<void>;
  readonly disconnect: () => Promise<void>;
  /** Connects again, as a browser does: with the id of the last event. Returns the status. */
  readonly connect: (to: TestPlatform) => Promise<number>;
};

export async function openStream(
  to: TestPlatform,
  path: string,
  { lastEventId, apiKey = to.apiKey }: { readonly lastEventId?: string | undefined; readonly apiKey?: string } = {},
): Promise<{ readonly response: Response; readonly abort: () => void }> {
  const abort = new AbortController();
  const response = await fetch(`${to.url}${path}${path.includes("?") ? "&" : "?"}accountIdentifier=${to.accountId}`, {
    headers: { "x-api-key": apiKey, ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }) },
    signal: abort.signal,
  });
  return { response, abort: () => abort.abort() };
}

export function createFollower(executionId: string): Follower {
  const events: StreamEvent[] = [];
  let [shown, lastEventId, status]: [Json, string | undefined, string | undefined] = [undefined, undefined, undefined];
  let [logs, lines]: [Record<string, number>, Record<string, number>] = [{}, {}];
  let stream: AsyncGenerator<StreamEvent> | undefined;

  function take(event: StreamEvent): void {
    events.push(event);
    if (event.id !== "") lastEventId = event.id;
    const { data } = event;
    if (event.event === "snapshot") [shown, logs, lines] = [data, {}, {}];
    else if (event.event === "logs") Object.assign(logs, data);
    else if (event.event === "lines") Object.assign(lines, data);
    else if (event.event === "end") status = data.status;
    else if (event.event === "execution") {
      const { layoutNodeMap } = shown.pipelineExecutionSummary;
      Object.assign(shown.pipelineExecutionSummary, data, {
        layoutNodeMap: { ...layoutNodeMap, ...data.layoutNodeMap },
      });
    } else takeNodes(data);
  }

  function takeNodes({ nodeMap, nodeAdjacencyListMap, removed }: Json): void {
    const graph = shown.executionGraph;
    for (const id of removed) {
      delete graph.nodeMap[id];
      delete graph.nodeAdjacencyListMap[id];
    }
    Object.assign(graph.nodeMap, nodeMap);
    Object.assign(graph.nodeAdjacencyListMap, nodeAdjacencyListMap);
  }

  async function step(): Promise<boolean> {
    const next = await stream?.next();
    if (!next || next.done) return false;
    take(next.value);
    return true;
  }

  return {
    ...{
      events,
      shown: () => shown,
      logs: () => logs,
      lines: () => lines,
      lastEventId: () => lastEventId,
      status: () => status,
    },
    async until(condition) {
      while (!condition()) assert.ok(await step(), "the stream ended");
    },
    async read(most = Number.POSITIVE_INFINITY) {
      for (let nth = 0; nth < most && (await step()); nth += 1);
    },
    async disconnect() {
      await stream?.return(undefined);
      stream = undefined;
    },
    async connect(to) {
      const { response } = await openStream(to, `/pipeline/api/pipelines/execution/${executionId}/events`, {
        lastEventId,
      });
      stream = eventsOf(response);
      return response.status;
    },
  };
}
