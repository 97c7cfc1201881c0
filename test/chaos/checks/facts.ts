/** Reads all executions from the database once the system has settled. */
import type { Uuid } from "../../../src/core/ids.ts";
import type { NodeState, Plan, State } from "../../../src/engine/index.ts";
import { readExecution } from "../../../src/executions/index.ts";
import type { Db } from "../../../src/platform/db/db.ts";
import type { DelegateName } from "../names.ts";

export type StepState = Pick<NodeState, "status" | "startedAt" | "endedAt" | "failure"> & {
  readonly exitCode: number | null;
};

/** An attempt of an instance of a step. */
export type StepFacts = {
  /** As in StepPlan. */
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
  /** Those that were reached. */
  readonly nodes: readonly NodeState[];
  readonly approvals: readonly ApprovalFacts[];
  /** Log of all steps, in the order of arrival. */
  readonly log: Buffer;
  /** Chunks of the log that do not join their predecessors. */
  readonly gaps: readonly string[];
};

export type ApprovalFacts = {
  readonly nodeId: string;
  readonly status: string;
  readonly activities: readonly { readonly action: string; readonly user: { readonly name: string } }[];
};

type Row = { readonly accountId: Uuid; readonly id: Uuid };
type Chunk = { position: number; nodeId: string; nodePosition: number; task: number; data: Buffer };

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
    `select position, node_id as "nodeId", node_position as "nodePosition", task, data
       from log_chunks where execution_id = $1 order by position`,
    [id],
  );
  const tasks = await db.query<{ nodeId: string; attempt: number; name: DelegateName }>(
    `select t.node_id as "nodeId", t.attempt, d.name from tasks t
       join delegates d on d.account_id = t.account_id and d.id = t.delegate_id where t.run_id = $1`,
    [id],
  );
  const approvals = await db.query<ApprovalFacts>(
    `select node_id as "nodeId", status, activities from approval_instances where execution_id = $1 order by id`,
    [id],
  );
  const delegates = new Map(tasks.map(({ nodeId, attempt, name }) => [`${nodeId} ${attempt}`, name]));
  const { logs, gaps } = joined(chunks);
  const shown = [...nodes.values()];
  const steps = shown.flatMap(({ id: node, definition, isReached, state: step }) => {
    if (definition.kind !== "step") return [];
    const identifier = keyOf(isReached ? step.path : definition.identifier);
    const last = step.attempts.length - 1;
    const attempts = step.attempts.length > 0 ? step.attempts : [undefined];
    return attempts.map((attempt, n): StepFacts => {
      const task = `${node} ${attempt?.task}`;
      return {
        identifier: n === 0 ? identifier : `${identifier}#${n + 1}`,
        state: {
          // What was decided about the last attempt is in the node.
          status: n === last || !attempt ? step.status : (attempt.status ?? "running"),
          startedAt: attempt?.startedAt ?? step.startedAt,
          endedAt: attempt ? attempt.endedAt : step.endedAt,
          failure: n === last || !attempt ? step.failure : attempt.failure,
          exitCode: attempt?.exitCode ?? null,
        },
        delegate: delegates.get(task),
        log: Buffer.concat(logs.get(task) ?? []),
      };
    });
  });
  const reached = shown.filter(({ isReached }) => isReached).map((one) => one.state);
  const log = Buffer.concat(chunks.map(({ data }) => data));
  return { id, number: numberOf(plan), status, state, steps, nodes: reached, approvals, log, gaps };
}

/** The identifier of an instance, and those around it that are instances of a loop. */
const keyOf = (path: string): string => {
  const parts = path.replace(/@\d+/g, "").split("/");
  return parts.filter((part, n) => n === parts.length - 1 || part.includes("[")).join("/");
};

function joined(chunks: readonly Chunk[]): { logs: ReadonlyMap<string, Buffer[]>; gaps: readonly string[] } {
  const logs = new Map<string, Buffer[]>();
  const ends = new Map<string, number>();
  const gaps: string[] = [];
  let end = 0;
  for (const { position, nodeId, nodePosition, task, data } of chunks) {
    const nodeEnd = ends.get(nodeId) ?? 0;
    if (position !== end) gaps.push(`a chunk at ${position} after ${end} bytes`);
    if (nodePosition !== nodeEnd) gaps.push(`a chunk of a step at ${nodePosition} after ${nodeEnd} bytes`);
    end = position + data.length;
    ends.set(nodeId, nodePosition + data.length);
    const key = `${nodeId} ${task}`;
    logs.set(key, [...(logs.get(key) ?? []), data]);
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
     union all select format('lock %s of ended execution %s', key, execution_id) from execution_locks
       where (account_id, execution_id) in (select account_id, id from executions where ended_at is not null)
     union all select format('approval %s of ended execution %s waits', id, execution_id) from approval_instances
       where status = 'WAITING'
         and (account_id, execution_id) in (select account_id, id from executions where ended_at is not null)
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
