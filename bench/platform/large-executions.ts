/** Executions with many parallel steps, which are given their ends directly, without tasks and delegates. */
import { randomUUIDv7 } from "node:crypto";
import type { Uuid } from "../../src/core/ids.ts";
import type { createAdvance } from "../../src/executions/index.ts";
import type { Db } from "../../src/platform/db/db.ts";

/** Nodes of an execution beside its parallel steps: pipeline, stage, group and parallel node. */
const FRAME = 4;

export type Advance = ReturnType<typeof createAdvance>;
export type LargeExecution = { readonly accountId: Uuid; readonly id: Uuid; readonly steps: string[] };

/** Stores an execution whose steps all run. */
export async function begin(db: Db, advance: Advance, nodes: number): Promise<LargeExecution> {
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

/** Ends the last step that still runs with success. */
export async function endStep(db: Db, advance: Advance, { accountId, id, steps }: LargeExecution): Promise<void> {
  const node = steps.pop() ?? "";
  const outcome = { kind: "exited", exitCode: 0, outputs: [] } as const;
  await db.transaction(async (tx) => {
    const run = await advance.lock(tx, { accountId, id });
    await run?.give({ kind: "taskEnded", at: Date.now(), node, attempt: 1, outcome });
  });
}
