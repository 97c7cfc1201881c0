/**
 * 200 concurrent webhooks, one step each: executions completed per second, from the first request to the commit of the
 * last end. The floor is as many `bash -c :` spawned from Node, as many at a time as the delegate has slots. Both
 * alternate; the figures are medians.
 */
import { bareStep, inParallel } from "../load/children.ts";
import { createClient } from "../platform/client.ts";
import { connectDatabase } from "../platform/database.ts";
import { createPipeline, createProject, createWebhook, execute, logOf } from "../platform/pipelines.ts";
import { withRatio, median, type Bench, type Sizes } from "../runner/result.ts";
import { withServer } from "../platform/server.ts";

const SIZES: Sizes<{ executions: number; rounds: number; warmUp: number }> = {
  whole: { executions: 200, rounds: 3, warmUp: 50 },
  brief: { executions: 5, rounds: 1, warmUp: 2 },
};
const CONNECTIONS = 16;

export const throughput: Bench = (signal, progress, size) =>
  withServer(signal, async (server) => {
    const { executions, rounds: measured, warmUp } = SIZES[size];
    const client = createClient(server.facts, CONNECTIONS, signal);
    const database = await connectDatabase(await server.databaseUrl());
    await createProject(client);
    const pipeline = await createPipeline(client, "one_step", 1, ":");
    const url = await createWebhook(client, pipeline);
    await logOf(client, await execute(client, pipeline));
    const [delegate] = await database.query<{ slots: number }>("select slots from delegates");
    const slots = delegate?.slots ?? 1;
    let ended = 1;

    /** Executions and webhooks per second. */
    const round = async (count: number): Promise<{ completed: number; accepted: number }> => {
      const from = performance.now();
      await inParallel(count, count, () => client.call(url));
      const accepted = performance.now() - from;
      await database.waitForEnded((ended += count), signal);
      return { completed: perSecond(count, performance.now() - from), accepted: perSecond(count, accepted) };
    };

    await round(warmUp);
    const rounds: { completed: number; accepted: number; bare: number }[] = [];
    for (let n = 1; n <= measured; n += 1) {
      progress(`round ${n} of ${measured}`);
      const from = performance.now();
      await inParallel(executions, slots, bareStep);
      const bare = perSecond(executions, performance.now() - from);
      rounds.push({ bare, ...(await round(executions)) });
    }
    await database.close();
    client.close();
    const completed = rounds.map((one) => one.completed);
    return {
      definition:
        `${executions} webhooks at once, one step \`:\` each: executions completed per second from the first request to the last end; ` +
        "floor: `bash -c :` spawned as often from Node, as many at a time as the delegate has slots.",
      parameters: { executions, rounds: measured, connections: CONNECTIONS, slots, completed },
      figures: [
        withRatio({
          name: "executions completed",
          value: median(completed),
          unit: "/s",
          floor: median(rounds.map((one) => one.bare)),
        }),
        { name: "webhooks accepted", value: median(rounds.map((one) => one.accepted)), unit: "/s" },
      ],
    };
  });

const perSecond = (count: number, ms: number): number => (count * 1_000) / ms;
