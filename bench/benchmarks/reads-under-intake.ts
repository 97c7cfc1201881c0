/**
 * The effect of webhook load on a reader. The reader lists executions through GraphQL, one request after the other,
 * while 2,000 webhooks are called, 200 at a time; each starts an execution. The floor is the same reader before the
 * load.
 */
import { inParallel } from "../load/children.ts";
import { createClient, type Client } from "../platform/client.ts";
import { createPipeline, createProject, createWebhook } from "../platform/pipelines.ts";
import { withRatio, median, percentile, type Bench, type Sizes } from "../runner/result.ts";
import { withServer } from "../platform/server.ts";

const SIZES: Sizes<{ webhooks: number; atOnce: number; reads: number }> = {
  whole: { webhooks: 2_000, atOnce: 200, reads: 500 },
  brief: { webhooks: 10, atOnce: 5, reads: 5 },
};
const QUERY = JSON.stringify({ query: "{ executions(limit: 20) { nodes { id status } } }" });

export const readsUnderIntake: Bench = (signal, progress, size) =>
  withServer(
    signal,
    async (server) => {
      const { webhooks, atOnce, reads } = SIZES[size];
      const { baseUrl, accountId } = server.facts;
      const [reader, caller] = [createClient(server.facts, 1, signal), createClient(server.facts, atOnce, signal)];
      await createProject(caller);
      const url = await createWebhook(caller, await createPipeline(caller, "called", 1, ":"));
      const read = async (): Promise<number> => {
        const { status, sentAt, answeredAt } = await reader.exchange(
          "POST",
          `${baseUrl}/gateway/api/graphql?accountId=${accountId}`,
          "application/json",
          QUERY,
        );
        if (status !== 200) throw new Error(`a read got status ${status}`);
        return answeredAt - sentAt;
      };
      await inParallel(Math.ceil(webhooks / 20), atOnce, () => callWebhook(caller, url));
      progress("reads alone");
      const alone: number[] = [];
      for (let nth = 0; nth < reads; nth += 1) alone.push(await read());

      progress("reads under webhook load");
      const underLoad: number[] = [];
      let isOver = false;
      const from = performance.now();
      const calls = inParallel(webhooks, atOnce, () => callWebhook(caller, url)).finally(() => (isOver = true));
      do underLoad.push(await read());
      while (!isOver);
      await calls;
      const seconds = (performance.now() - from) / 1_000;
      for (const client of [reader, caller]) client.close();
      return {
        definition: `One reader of executions while ${webhooks} webhooks are called, ${atOnce} at a time; floor: the same reader alone.`,
        parameters: { webhooks, atOnce, reads: underLoad.length },
        figures: [
          withRatio({ name: "read, median", value: median(underLoad), unit: "ms", floor: median(alone) }),
          withRatio({
            ...{ name: "read, 99th percentile", unit: "ms" },
            ...{ value: percentile(underLoad, 0.99), floor: percentile(alone, 0.99) },
          }),
          { name: "webhooks accepted", value: webhooks / seconds, unit: "/s" },
        ],
      };
    },
    { RAILHEAD_LOCAL_DELEGATE: "off" },
  );

async function callWebhook(client: Client, url: string): Promise<void> {
  const { status, body } = await client.exchange("POST", url, "application/json", "{}");
  if (status !== 200) throw new Error(`a webhook got status ${status}: ${body}`);
}
