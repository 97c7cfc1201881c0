/**
 * One pipeline of 40 sequential steps, each `:` in its own Bash: the time from `startedAt` to `endedAt`, and the time
 * from the request to the committed end. The floor is 40 times `bash -c :`, spawned from Node. Both alternate; the
 * figures are medians.
 */
import { bareStep, inParallel } from "../load/children.ts";
import { createClient } from "../platform/client.ts";
import { connectDatabase } from "../platform/database.ts";
import { createPipeline, createProject, execute } from "../platform/pipelines.ts";
import { withRatio, median, type Bench, type Sizes } from "../runner/result.ts";
import { withServer } from "../platform/server.ts";

const SIZES: Sizes<{ steps: number; rounds: number; warmUp: number }> = {
  whole: { steps: 40, rounds: 7, warmUp: 2 },
  brief: { steps: 3, rounds: 1, warmUp: 1 },
};

type Round = { readonly own: number; readonly wall: number; readonly bare: number };

export const sequence: Bench = (signal, progress, size) =>
  withServer(signal, async (server) => {
    const { steps, rounds: measured, warmUp } = SIZES[size];
    const client = createClient(server.facts, 2, signal);
    const database = await connectDatabase(await server.databaseUrl());
    await createProject(client);
    const pipeline = await createPipeline(client, "many_steps", steps, ":");
    const rounds: Round[] = [];
    for (let n = 1 - warmUp; n <= measured; n += 1) {
      if (n > 0) progress(`round ${n} of ${measured}`);
      const bareFrom = performance.now();
      await inParallel(steps, 1, bareStep);
      const bare = (performance.now() - bareFrom) / 1_000;
      const from = performance.now();
      await execute(client, pipeline);
      await database.waitForEnded(n + warmUp, signal);
      const wall = (performance.now() - from) / 1_000;
      const [times] = await database.query<{ own: number }>(
        "select (ended_at - started_at)::float / 1000 as own from executions order by id desc limit 1",
      );
      if (n > 0) rounds.push({ own: times?.own ?? Number.NaN, wall, bare });
    }
    await database.close();
    client.close();
    const floor = median(rounds.map((one) => one.bare));
    const own = rounds.map((one) => one.own);
    return {
      definition: `One execution of ${steps} sequential steps \`:\`; floor: \`bash -c :\` spawned ${steps} times, one after the other, from Node.`,
      parameters: { steps, rounds: measured, startedToEnded: own },
      figures: [
        withRatio({
          name: "startedAt to endedAt",
          value: median(own),
          unit: "s",
          floor,
          goal: { of: "value", atMost: 1.2 },
        }),
        withRatio({ name: "request to committed end", value: median(rounds.map((one) => one.wall)), unit: "s", floor }),
      ],
    };
  });
