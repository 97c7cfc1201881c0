import type { Plan, State, Status } from "../../engine/index.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Query } from "../../platform/db/db.ts";
import type { Execution, ExecutionDetail, TriggeredBy, TriggerType } from "../execution.ts";

type Store = { readonly query: Query };

/** The next run number of a pipeline. Locks the counter until the transaction ends, so that numbers follow the commits. */
export async function nextSequence(db: Store, accountId: Uuid, pipelineId: Uuid): Promise<number> {
  const rows = await db.query<{ last: number }>(
    `insert into execution_sequences (account_id, pipeline_id, last) values ($1, $2, 1)
     on conflict (account_id, pipeline_id) do update set last = execution_sequences.last + 1 returning last`,
    [accountId, pipelineId],
  );
  return rows[0]?.last ?? 1;
}

export type NewExecution = {
  readonly accountId: Uuid;
  readonly id: Uuid;
  readonly projectId: Uuid;
  readonly pipelineId: Uuid;
  readonly pipelineVersion: number;
  readonly runSequence: number;
  readonly plan: Plan;
  readonly state: State;
  readonly triggerType: TriggerType;
  readonly triggeredBy: TriggeredBy;
  readonly inputYaml: string | null;
  readonly createdAt: number;
};

export async function insertExecution(db: Store, e: NewExecution): Promise<void> {
  await db.query(
    `insert into executions (account_id, id, project_id, pipeline_id, pipeline_version, run_sequence, status, plan, state,
                             trigger_type, triggered_by, input_yaml, created_at, started_at, ended_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
    [
      e.accountId,
      e.id,
      e.projectId,
      e.pipelineId,
      e.pipelineVersion,
      e.runSequence,
      e.state.status,
      JSON.stringify(e.plan),
      JSON.stringify(e.state),
      e.triggerType,
      JSON.stringify(e.triggeredBy),
      e.inputYaml,
      e.createdAt,
      e.state.startedAt,
      e.state.endedAt,
    ],
  );
}

/**
 * The state as it is stored, locked until the transaction ends: events of one execution take turns (law 2). Undefined
 * when there is no such execution.
 */
export async function lockState(db: Store, accountId: Uuid, id: Uuid): Promise<unknown> {
  const rows = await db.query<{ state: unknown }>(
    `select state from executions where account_id = $1 and id = $2 for no key update`,
    [accountId, id],
  );
  return rows[0]?.state;
}

export async function findPlan(db: Store, accountId: Uuid, id: Uuid): Promise<Plan | undefined> {
  const rows = await db.query<{ plan: Plan }>(`select plan from executions where account_id = $1 and id = $2`, [
    accountId,
    id,
  ]);
  return rows[0]?.plan;
}

export type RunKey = { readonly accountId: Uuid; readonly id: Uuid };
export type Timer = { readonly node: string; readonly attempt: number; readonly at: number };

export type TimerChanges = { readonly started: readonly Timer[]; readonly stopped: readonly Omit<Timer, "at">[] };

export async function insertTimers(db: Store, accountId: Uuid, id: Uuid, timers: readonly Timer[]): Promise<void> {
  if (timers.length === 0) return;
  await db.query(
    `insert into execution_timers (account_id, execution_id, node_id, attempt, due_at)
     select $1, $2, s.node_id, s.attempt, s.due_at from unnest($3::uuid[], $4::int[], $5::bigint[]) as s (node_id, attempt, due_at)`,
    [
      accountId,
      id,
      timers.map((timer) => timer.node),
      timers.map((timer) => timer.attempt),
      timers.map((timer) => timer.at),
    ],
  );
}

/**
 * The new state and the timers that start and stop with it, in one statement.
 * Final states are sinks: the condition holds even if the engine were wrong.
 */
export async function saveState(
  db: Store,
  { accountId, id }: RunKey,
  state: State,
  timers: TimerChanges,
): Promise<void> {
  const { started, stopped } = timers;
  const rows = await db.query(
    `with stopped as (
       delete from execution_timers t using unnest($6::uuid[], $7::int[]) as s (node_id, attempt)
        where t.account_id = $1 and t.execution_id = $2 and t.node_id = s.node_id and t.attempt = s.attempt),
     started as (
       insert into execution_timers (account_id, execution_id, node_id, attempt, due_at)
       select $1, $2, s.node_id, s.attempt, s.due_at from unnest($8::uuid[], $9::int[], $10::bigint[]) as s (node_id, attempt, due_at))
     update executions set status = $3, state = $4, started_at = $5, ended_at = $11
      where account_id = $1 and id = $2
        and status not in ('succeeded', 'ignored', 'failed', 'errored', 'aborted', 'expired', 'rejected', 'skipped')
     returning id`,
    [
      accountId,
      id,
      state.status,
      JSON.stringify(state),
      state.startedAt,
      stopped.map((timer) => timer.node),
      stopped.map((timer) => timer.attempt),
      started.map((timer) => timer.node),
      started.map((timer) => timer.attempt),
      started.map((timer) => timer.at),
      state.endedAt,
    ],
  );
  if (rows.length === 0) throw new Error(`execution ${id} has ended; its state cannot change any more`);
}

/** Ends an execution whatever its state was, unless it has ended, and takes all its timers away. */
export async function endErrored(db: Store, { accountId, id }: RunKey, state: State): Promise<void> {
  await db.query(
    `with stopped as (delete from execution_timers where account_id = $1 and execution_id = $2)
     update executions set status = $3, state = $4, ended_at = $5
      where account_id = $1 and id = $2
        and status not in ('succeeded', 'ignored', 'failed', 'errored', 'aborted', 'expired', 'rejected', 'skipped')`,
    [accountId, id, state.status, JSON.stringify(state), state.endedAt],
  );
}

const EXECUTION = `e.id, e.status, e.created_at as "createdAt", e.started_at as "startedAt", e.ended_at as "endedAt",
  a.id as "applicationId", a.name as "applicationName", p.id as "pipelineId", p.name as "pipelineName"`;

const FROM = `from executions e
  join projects a on a.account_id = e.account_id and a.id = e.project_id
  join pipelines p on p.account_id = e.account_id and p.id = e.pipeline_id`;

export type ExecutionFilter = {
  readonly projectId?: Uuid;
  readonly pipelineIds?: readonly Uuid[];
  readonly notPipelineIds?: readonly Uuid[];
  readonly pipelineIdentifier?: string;
  readonly statuses?: readonly Status[];
  readonly startedAfter?: number;
  readonly startedBefore?: number;
  readonly startedAt?: number;
  readonly endedAfter?: number;
  readonly endedBefore?: number;
  readonly endedAt?: number;
};

function conditions(accountId: Uuid, filter: ExecutionFilter): { where: string; values: unknown[] } {
  const values: unknown[] = [accountId];
  const parts = ["e.account_id = $1"];
  const add = (value: unknown, text: (parameter: string) => string): void => {
    if (value !== undefined) parts.push(text(`$${values.push(value)}`));
  };
  add(filter.projectId, (v) => `e.project_id = ${v}`);
  // One id is compared with `=`, so that the index also gives the order.
  if (filter.pipelineIds?.length === 1) add(filter.pipelineIds[0], (v) => `e.pipeline_id = ${v}`);
  else add(filter.pipelineIds, (v) => `e.pipeline_id = any(${v}::uuid[])`);
  add(filter.notPipelineIds, (v) => `e.pipeline_id <> all(${v}::uuid[])`);
  add(
    filter.pipelineIdentifier,
    (v) => `e.pipeline_id in (select id from pipelines where account_id = $1 and identifier = ${v})`,
  );
  add(filter.statuses, (v) => `e.status = any(${v}::text[])`);
  add(filter.startedAfter, (v) => `e.started_at > ${v}`);
  add(filter.startedBefore, (v) => `e.started_at < ${v}`);
  add(filter.startedAt, (v) => `e.started_at = ${v}`);
  add(filter.endedAfter, (v) => `e.ended_at > ${v}`);
  add(filter.endedBefore, (v) => `e.ended_at < ${v}`);
  add(filter.endedAt, (v) => `e.ended_at = ${v}`);
  return { where: parts.join(" and "), values };
}

/** The list statement as text and values, so that the benchmark's bare server can send the very same one. */
export function listStatement(
  accountId: Uuid,
  filter: ExecutionFilter,
  limit: number,
  offset: number,
): { text: string; values: unknown[] } {
  const { where, values } = conditions(accountId, filter);
  const text = `select ${EXECUTION} ${FROM} where ${where} order by e.id desc limit $${values.push(limit)} offset $${values.push(offset)}`;
  return { text, values };
}

/** Newest first: ids are UUIDv7. */
export async function listExecutions(
  db: Store,
  accountId: Uuid,
  filter: ExecutionFilter,
  limit: number,
  offset: number,
): Promise<Execution[]> {
  const { text, values } = listStatement(accountId, filter, limit, offset);
  return db.query<Execution>(text, values);
}

export async function countExecutions(db: Store, accountId: Uuid, filter: ExecutionFilter): Promise<number> {
  const { where, values } = conditions(accountId, filter);
  const rows = await db.query<{ total: number }>(`select count(*) as total from executions e where ${where}`, values);
  return rows[0]?.total ?? 0;
}

const DETAIL = `${EXECUTION}, a.org_identifier as "orgIdentifier", a.identifier as "projectIdentifier", p.identifier as "pipelineIdentifier",
  e.pipeline_version as "pipelineVersion", e.run_sequence as "runSequence", e.trigger_type as "triggerType",
  e.triggered_by as "triggeredBy", e.plan, e.state`;

export async function findExecution(db: Store, accountId: Uuid, id: Uuid): Promise<ExecutionDetail | undefined> {
  const rows = await db.query<ExecutionDetail>(`select ${DETAIL} ${FROM} where e.account_id = $1 and e.id = $2`, [
    accountId,
    id,
  ]);
  return rows[0];
}

/** Details of a page; the plan and the state of each come with it. */
export async function listDetails(
  db: Store,
  accountId: Uuid,
  filter: ExecutionFilter,
  limit: number,
  offset: number,
): Promise<ExecutionDetail[]> {
  const { where, values } = conditions(accountId, filter);
  return db.query<ExecutionDetail>(
    `select ${DETAIL} ${FROM} where ${where} order by e.id desc limit $${values.push(limit)} offset $${values.push(offset)}`,
    values,
  );
}

export async function findStatus(db: Store, accountId: Uuid, id: Uuid): Promise<Status | undefined> {
  const rows = await db.query<{ status: Status }>(`select status from executions where account_id = $1 and id = $2`, [
    accountId,
    id,
  ]);
  return rows[0]?.status;
}

export type DueTimer = {
  readonly accountId: Uuid;
  readonly executionId: Uuid;
  readonly nodeId: Uuid;
  readonly attempt: number;
};

/** Across accounts: the sweep serves them all. */
export async function findDueTimers(db: Store, now: number): Promise<DueTimer[]> {
  return db.query<DueTimer>(
    `select account_id as "accountId", execution_id as "executionId", node_id as "nodeId", attempt
       from execution_timers where due_at <= $1 order by due_at limit 200`,
    [now],
  );
}

/** True for the one replica that took the timer. */
export async function takeTimer(db: Store, timer: DueTimer): Promise<boolean> {
  const rows = await db.query(
    `delete from execution_timers where account_id = $1 and execution_id = $2 and node_id = $3 and attempt = $4 returning node_id`,
    [timer.accountId, timer.executionId, timer.nodeId, timer.attempt],
  );
  return rows.length > 0;
}
