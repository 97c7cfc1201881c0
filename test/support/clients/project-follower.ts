/** A client of a project's event stream: keeps the executions as docs/api/executions.md says. */
import assert from "node:assert/strict";
import { SCOPE } from "../runs.ts";
import type { TestPlatform } from "../platform.ts";
import { eventsOf, type StreamEvent } from "./event-stream.ts";
import { openStream } from "./follower.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- tests read arbitrary responses
type Summary = any;

export type ProjectFollower = {
  readonly events: readonly StreamEvent[];
  /** What the client shows, by id. */
  readonly shown: ReadonlyMap<string, Summary>;
  readonly lastEventId: () => string | undefined;
  /** Reads until the condition holds. Fails when the stream ends before it. */
  readonly until: (condition: () => boolean) => Promise<void>;
  /** Reads one event; false when the stream has ended. */
  readonly read: () => Promise<boolean>;
  readonly disconnect: () => Promise<void>;
  /** Connects again, as a browser does: with the id of the last event. Returns the status. */
  readonly connect: (to: TestPlatform) => Promise<number>;
};

export const PROJECT_EVENTS = `/pipeline/api/pipelines/execution/summary/events?${SCOPE}`;

/** The executions of the project as the list answers them, by id. */
export async function listedExecutions(to: TestPlatform, apiKey = to.apiKey): Promise<Map<string, Summary>> {
  const path = `/pipeline/api/pipelines/execution/summary?${SCOPE}&size=100`;
  const { status, text, body } = await to.send("POST", path, { apiKey });
  assert.equal(status, 200, text);
  return new Map(body.data.content.map((summary: Summary) => [summary.planExecutionId, summary]));
}

export function createProjectFollower({ apiKey }: { readonly apiKey?: string } = {}): ProjectFollower {
  const events: StreamEvent[] = [];
  const shown = new Map<string, Summary>();
  let [lastEventId, stream, server]: [string?, AsyncGenerator<StreamEvent>?, TestPlatform?] = [];

  async function take(event: StreamEvent): Promise<void> {
    events.push(event);
    if (event.id !== "") lastEventId = event.id;
    if (event.event === "executions")
      for (const summary of event.data.content) shown.set(summary.planExecutionId, summary);
    else {
      assert.equal(event.event, "reset");
      shown.clear();
      if (server) for (const [id, summary] of await listedExecutions(server, apiKey)) shown.set(id, summary);
    }
  }

  async function read(): Promise<boolean> {
    const next = await stream?.next();
    if (!next || next.done) return false;
    await take(next.value);
    return true;
  }

  return {
    ...{ events, shown, read, lastEventId: () => lastEventId },
    async until(condition) {
      while (!condition()) assert.ok(await read(), "the stream ended");
    },
    async disconnect() {
      await stream?.return(undefined);
      stream = undefined;
    },
    async connect(to) {
      server = to;
      const { response } = await openStream(to, PROJECT_EVENTS, { lastEventId, ...(apiKey && { apiKey }) });
      stream = eventsOf(response);
      return response.status;
    },
  };
}
