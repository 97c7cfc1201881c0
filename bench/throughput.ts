/**
 * 200 webhooks at once, one step each: executions completed per second, from the
 * first request to the commit of the last end, as seen from outside. The floor
 * is `bash -c :` as often, as many at a time as the delegate has slots, spawned
 * from a Node process. In turns; the medians count.
 */
import { bareStep, inParallel } from "./parts/children.ts";
import { makeClient } from "./parts/client.ts";
import { lookInto } from "./parts/database.ts";
import { createPipeline, createProject, createWebhook, execute, logOf } from "./parts/pipelines.ts";
import { beside, median, type Bench } from "./parts/result.ts";
import { withServer } from "./parts/server.ts";

const EXECUTIONS = 200;
const ROUNDS = 3;
const WARM_UP = 50;
const CONNECTIONS = 16;

export const throughput: Bench = (signal, progress) =>
  withServer(signal, async (server) => {
    const client = makeClient(server.facts, CONNECTIONS, signal);
    const look = await lookInto(await server.databaseUrl());
    await createProject(client);
    const pipeline = await createPipeline(client, "one_step", 1, ":");
    const url = await createWebhook(client, pipeline);
    await logOf(client, await execute(client, pipeline));
    const [delegate] = await look.query<{ slots: number }>("select slots from delegates");
    const slots = delegate?.slots ?? 1;
    let ended = 1;

    /** Executions and webhooks per second. */
    const round = async (count: number): Promise<{ completed: number; accepted: number }> => {
      const from = performance.now();
      await inParallel(count, count, () => client.call(url));
      const accepted = performance.now() - from;
      await look.untilEnded((ended += count), signal);
      return { completed: perSecond(count, performance.now() - from), accepted: perSecond(count, accepted) };
    };

    await round(WARM_UP);
    const rounds: { completed: number; accepted: number; bare: number }[] = [];
    for (let n = 1; n <= ROUNDS; n += 1) {
      progress(`round ${n} of ${ROUNDS}`);
      const from = performance.now();
      await inParallel(EXECUTIONS, slots, bareStep);
      const bare = perSecond(EXECUTIONS, performance.now() - from);
      rounds.push({ bare, ...(await round(EXECUTIONS)) });
    }
    await look.close();
    client.close();
    const completed = rounds.map((one) => one.completed);
    return {
      definition:
        "200 webhooks at once, one step `:` each: executions completed per second from the first request to the last end; " +
        "floor: `bash -c :` spawned as often from Node, as many at a time as the delegate has slots.",
      parameters: { executions: EXECUTIONS, rounds: ROUNDS, connections: CONNECTIONS, slots, completed },
      figures: [
        beside({
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
