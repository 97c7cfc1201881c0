/**
 * The cost of one event in executions of few and of many nodes: a step that runs beside others ends, and what follows is
 * decided and committed. Steps are given their ends directly, without tasks and delegates, in turns: one in the large
 * execution, one in a small one. Then the same with two replicas that take turns, so that each has to read what the other
 * one has changed.
 */
import { randomUUIDv7 } from "node:crypto";
import type { Uuid } from "../../src/core/ids.ts";
import { createAdvance } from "../../src/executions/index.ts";
import type { Db } from "../../src/platform/db/db.ts";
import { openDb } from "../../src/platform/db/pool/pool.ts";
import { createClient } from "../platform/client.ts";
import { createPipeline, createProject, execute } from "../platform/pipelines.ts";
import { cpuSecondsOf } from "../platform/processes.ts";
import { withServer } from "../platform/server.ts";
import { median, withRatio, type Bench, type Sizes } from "../runner/result.ts";

const SIZES: Sizes<{ few: number; many: number; events: number }> = {
  whole: { few: 10, many: 5_000, events: 600 },
  brief: { few: 10, many: 50, events: 6 },
};

/** Nodes of an execution beside its parallel steps: pipeline, stage, group and parallel node. */
const FRAME = 4;

const silentLog = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

type Advance = ReturnType<typeof createAdvance>;
type Execution = { readonly accountId: Uuid; readonly id: Uuid; readonly steps: string[] };

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
        let small: Execution | undefined;
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

/** Stores an execution whose steps all run. */
async function begin(db: Db, advance: Advance, nodes: number): Promise<Execution> {
  const [id, at] = [randomUUIDv7() as Uuid, Date.now()];
  const steps = Array.from({ length: nodes - FRAME }, () => randomUUIDv7());
  const [pipeline, stage, group, parallel] = Array.from({ length: FRAME }, () => randomUUIDv7());
  const of = (kind: string, own: string | undefined, rest: object) => ({
    ...{ kind, id: own, identifier: kind, name: kind, path: [kind], ...rest },
  });
  // As a server stores it before the first event.
  const initialState = {
    ...{ format: 2, status: "queued", startedAt: null, endedAt: null, failure: null, aborting: false, paused: false },
    ...{ latestAt: 0, nodes: 0, outputBytes: 0, barriers: {} },
  };
  const work = { kind: "shell", script: ":", env: [], outputs: [] };
  const all = [
    of("pipeline", pipeline, { children: [stage] }),
    of("stage", stage, { type: "Custom", steps: group }),
    of("group", group, { role: "steps", children: [parallel] }),
    of("parallel", parallel, { children: steps }),
    ...steps.map((step, nth) => ({
      ...of("step", step, { type: "ShellScript", timeoutMs: 600_000, selectors: [], work }),
      identifier: `step${nth}`,
    })),
  ];
  const plan = {
    format: 2,
    root: pipeline,
    nodes: Object.fromEntries<unknown>(all.map((node) => [String(node.id), node])),
    context: {},
  };
  const [row] = await db.query<{ accountId: Uuid }>(
    `insert into executions (account_id, id, project_id, pipeline_id, pipeline_version, run_sequence, status, plan, header, format,
                             trigger_type, triggered_by, created_at)
     select account_id, $1, project_id, pipeline_id, pipeline_version, (select max(run_sequence) from executions) + 1, 'queued',
            $2, $3, 2, trigger_type, triggered_by, $4 from executions limit 1 returning account_id as "accountId"`,
    [id, JSON.stringify(plan), JSON.stringify(initialState), at],
  );
  if (!row) throw new Error("there is no execution to copy");
  const { accountId } = row;
  await db.transaction(async (tx) => (await advance.lock(tx, { accountId, id }))?.give({ kind: "started", at }));
  return { accountId, id, steps };
}

async function endStep(db: Db, advance: Advance, { accountId, id, steps }: Execution): Promise<void> {
  const node = steps.pop() ?? "";
  const outcome = { kind: "exited", exitCode: 0, outputs: [] } as const;
  await db.transaction(async (tx) => {
    const run = await advance.lock(tx, { accountId, id });
    await run?.give({ kind: "taskEnded", at: Date.now(), node, attempt: 1, outcome });
  });
}
