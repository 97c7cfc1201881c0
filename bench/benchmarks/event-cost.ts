/**
 * The cost of one event in executions of few and of many nodes: a step that runs beside others ends, and what follows is
 * decided and committed. Steps are given their ends directly, without tasks and delegates, in turns: one in the large
 * execution, one in a small one. Then the same with two replicas that take turns, so that each has to read what the other
 * one has changed.
 */
import { createAdvance } from "../../src/executions/index.ts";
import { openDb } from "../../src/platform/db/pool/pool.ts";
import { silentLog } from "../../test/support/database.ts";
import { createClient } from "../platform/client.ts";
import { begin, endStep, type Advance, type LargeExecution } from "../platform/large-executions.ts";
import { createPipeline, createProject, execute } from "../platform/pipelines.ts";
import { cpuSecondsOf } from "../platform/processes.ts";
import { withServer } from "../platform/server.ts";
import { median, withRatio, type Bench, type Sizes } from "../runner/result.ts";

const SIZES: Sizes<{ few: number; many: number; events: number }> = {
  whole: { few: 10, many: 5_000, events: 600 },
  brief: { few: 10, many: 50, events: 6 },
};

export const eventCost: Bench = (signal, progress, size) =>
  withServer(
    signal,
    async (server) => {
      const { few, many, events } = SIZES[size];
      const client = createClient(server.facts, 1, signal);
      await createProject(client);
      await execute(client, await createPipeline(client, "one_step", 1, ":"));
      // With one connection, one backend process does all the work.
      const db = openDb({ connection: await server.databaseUrl(), max: 1, log: silentLog, onError: () => {} });
      const [here, there] = [createAdvance(), createAdvance()];
      const run = async (replicas: readonly Advance[], warmUp: boolean) => {
        const large = await begin(db, replicas[0] ?? here, many);
        const [ofFew, ofMany]: [number[], number[]] = [[], []];
        let small: LargeExecution | undefined;
        const cpu = { few: 0, many: 0 };
        const [row] = await db.query<{ pid: number }>("select pg_backend_pid() as pid");
        const spent = (): number => cpuSecondsOf(row?.pid ?? 0) + process.cpuUsage().user / 1e6;
        for (let nth = 0; nth < events; nth += 1) {
          signal.throwIfAborted();
          // Its last step would end it.
          if (!small || small.steps.length === 1) small = await begin(db, replicas[0] ?? here, few);
          const advance = replicas[nth % replicas.length] ?? here;
          const [a, from] = [spent(), performance.now()];
          await endStep(db, advance, small);
          const [b, between] = [spent(), performance.now()];
          await endStep(db, advance, large);
          const [c, to] = [spent(), performance.now()];
          ofFew.push(between - from);
          ofMany.push(to - between);
          cpu.few += b - a;
          cpu.many += c - b;
        }
        if (!warmUp)
          progress(`${replicas.length} replicas: ${(cpu.few * 1e3) / events} and ${(cpu.many * 1e3) / events} ms`);
        return { few: median(ofFew), many: median(ofMany), cpuFew: cpu.few, cpuMany: cpu.many };
      };
      await run([here], true);
      const alone = await run([here], false);
      const two = await run([here, there], false);
      await db.close();
      client.close();
      const goal = { of: "ratio", atMost: 1.2 } as const;
      const perEvent = (seconds: number): number => (Math.max(0.005, seconds) / events) * 1_000;
      return {
        definition: `One event, from the lock to the commit, in an execution of ${many} nodes; floor: of ${few} nodes.`,
        parameters: { few, many, events },
        figures: [
          withRatio({ name: `event at ${many} nodes`, value: alone.many, unit: "ms", floor: alone.few, goal }),
          withRatio({
            ...{ name: `event at ${many} nodes, processor`, unit: "ms", goal },
            ...{ value: perEvent(alone.cpuMany), floor: perEvent(alone.cpuFew) },
          }),
          withRatio({
            name: `event at ${many} nodes, two replicas`,
            value: two.many,
            unit: "ms",
            floor: two.few,
            goal,
          }),
        ],
      };
    },
    { RAILHEAD_LOCAL_DELEGATE: "off" },
  );
