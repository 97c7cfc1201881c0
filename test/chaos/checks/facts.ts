/** Reads all executions from the database once the system has settled. */
import type { Uuid } from "../../../src/core/ids.ts";
import type { NodeState, Plan, State } from "../../../src/engine/index.ts";
import { readExecution } from "../../../src/executions/index.ts";
import type { Db } from "../../../src/platform/db/db.ts";
import type { DelegateName } from "../names.ts";

/** A step, and the exit code of its last attempt. */
export type StepState = Pick<NodeState, "status" | "startedAt" | "endedAt" | "failure"> & {
  readonly exitCode: number | null;
};

export type StepFacts = {
  readonly identifier: string;
  /** Undefined for a step of an execution that cannot be read. */
  readonly state: StepState | undefined;
  readonly delegate: DelegateName | undefined;
  readonly log: Buffer;
};

export type ExecutionFacts = {
  readonly id: Uuid;
  /** The number of its request. Undefined if no request of the load started it. */
  readonly number: number | undefined;
  readonly status: string;
  readonly state: State;
  readonly steps: readonly StepFacts[];
  /** Log of all steps, in the order of arrival. */
  readonly log: Buffer;
  /** Chunks of the log that do not join their predecessors. */
  readonly gaps: readonly string[];
};

type Row = { readonly accountId: Uuid; readonly id: Uuid };
type Chunk = { position: number; nodeId: string; nodePosition: number; data: Buffer };

/** Reads one execution at a time. All of them together might take too much memory. */
export async function* readExecutions(db: Db): AsyncGenerator<ExecutionFacts> {
  const rows = await db.query<Row>('select account_id as "accountId", id from executions order by id');
  for (const row of rows) yield await factsOf(db, row);
}

async function factsOf(db: Db, row: Row): Promise<ExecutionFacts> {
  const { id } = row;
  const execution = await readExecution(db, row);
  if (!execution) throw new Error(`execution ${id} was deleted`);
  const { plan, state, status, nodes } = execution;
  const chunks = await db.query<Chunk>(
    `select position, node_id as "nodeId", node_position as "nodePosition", data
       from log_chunks where execution_id = $1 order by position`,
    [id],
  );
  const tasks = await db.query<{ nodeId: string; name: DelegateName }>(
    `select t.node_id as "nodeId", d.name from tasks t
       join delegates d on d.account_id = t.account_id and d.id = t.delegate_id where t.run_id = $1`,
    [id],
  );
  const delegates = new Map(tasks.map(({ nodeId, name }) => [nodeId, name]));
  const { logs, gaps } = joined(chunks);
  const steps = [...nodes.values()].flatMap(({ id: node, definition, state: step }) => {
    if (definition.kind !== "step") return [];
    const log = Buffer.concat(logs.get(node) ?? []);
    const exitCode = step.attempts.at(-1)?.exitCode ?? null;
    return [{ identifier: definition.identifier, state: { ...step, exitCode }, delegate: delegates.get(node), log }];
  });
  const log = Buffer.concat(chunks.map(({ data }) => data));
  return { id, number: numberOf(plan), status, state, steps, log, gaps };
}

function joined(chunks: readonly Chunk[]): { logs: ReadonlyMap<string, Buffer[]>; gaps: readonly string[] } {
  const logs = new Map<string, Buffer[]>();
  const ends = new Map<string, number>();
  const gaps: string[] = [];
  let end = 0;
  for (const { position, nodeId, nodePosition, data } of chunks) {
    const nodeEnd = ends.get(nodeId) ?? 0;
    if (position !== end) gaps.push(`a chunk at ${position} after ${end} bytes`);
    if (nodePosition !== nodeEnd) gaps.push(`a chunk of a step at ${nodePosition} after ${nodeEnd} bytes`);
    end = position + data.length;
    ends.set(nodeId, nodePosition + data.length);
    logs.set(nodeId, [...(logs.get(nodeId) ?? []), data]);
  }
  return { logs, gaps };
}

function numberOf({ context }: Plan): number | undefined {
  const { trigger, pipeline } = context as {
    readonly trigger?: { readonly payload?: { readonly number?: number } } | null;
    readonly pipeline?: { readonly variables?: { readonly number?: string } };
  };
  const number = Number(trigger?.payload?.number ?? pipeline?.variables?.number);
  return Number.isSafeInteger(number) ? number : undefined;
}

/** Describes rows that a settled system does not have. */
export async function openRows(db: Db): Promise<readonly string[]> {
  const rows = await db.query<{ what: string }>(
    `select format('task %s of execution %s is %s', id, run_id, status) as what from tasks where status <> 'finished'
     union all select format('timer of ended execution %s', execution_id) from execution_timers
       where (account_id, execution_id) in (select account_id, id from executions where ended_at is not null)
     union all select format('delivery %s was not processed', id) from webhook_deliveries where processed_at is null`,
  );
  return rows.map(({ what }) => what);
}

/** Describes locks and transactions of the servers that last longer than any of their statements. */
export async function openLocks(db: Db): Promise<readonly string[]> {
  const rows = await db.query<{ what: string }>(
    `select format('connection %s (%s) has been %s for %s s: %s', pid, application_name, state,
                   round(extract(epoch from clock_timestamp() - xact_start)), left(query, 200)) as what
       from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
        and xact_start < clock_timestamp() - interval '20 s'
     union all
     select format('connection %s waits for a lock: %s', pid, left(query, 200)) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'
        and state_change < clock_timestamp() - interval '5 s'`,
  );
  return rows.map(({ what }) => what);
}

/** Describes deliveries that were processed without starting an execution. */
export async function refusedDeliveries(db: Db): Promise<readonly string[]> {
  const rows = await db.query<{ what: string }>(
    `select format('delivery %s: %s %s', payload, status, message) as what from webhook_deliveries
      where processed_at is not null and execution_id is null`,
  );
  return rows.map(({ what }) => what);
}
