import type { Plan, State, Status } from "../../engine/index.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Principal } from "../../pipelines/index.ts";
import type { Query } from "../../platform/db/db.ts";
import type { RerunInfo, TriggeredBy, TriggerType } from "../execution.ts";
import { marksOf, storable, tagsOf } from "../marks.ts";
import { markSetOf } from "./names/mark-sets.ts";
import { lastNodeOf, packStages, packStates, stageIdsOf, stagesOf, stageStatesOf } from "../stage.ts";

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

/** The execution of a pipeline with this run number. A deleted pipeline may have had the identifier too: the newest. */
export async function findBySequence(
  db: Store,
  accountId: Uuid,
  at: {
    readonly orgIdentifier: string;
    readonly projectIdentifier: string;
    readonly pipelineIdentifier: string;
    readonly runSequence: number;
  },
): Promise<Uuid | undefined> {
  const rows = await db.query<{ id: Uuid }>(
    `select e.id from projects a
       join pipelines p on p.account_id = a.account_id and p.project_id = a.id and p.identifier = $4
       join executions e on e.account_id = p.account_id and e.pipeline_id = p.id and e.run_sequence = $5
      where a.account_id = $1 and a.org_identifier = $2 and a.identifier = $3
      order by p.deleted_at is not null, e.id desc limit 1`,
    [accountId, at.orgIdentifier, at.projectIdentifier, at.pipelineIdentifier, at.runSequence],
  );
  return rows[0]?.id;
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
  readonly startedBy: Uuid | null;
  readonly inputYaml: string | null;
  readonly notes: string | null;
  readonly rerunInfo: RerunInfo | null;
  readonly principals: readonly Principal[];
  readonly createdAt: number;
};

/** The run and what it can be found by, in one statement. Answers the length of its plan as JSON. */
export async function insertExecution(db: Store, e: NewExecution): Promise<number> {
  const marks = marksOf(e.plan);
  const markSet = markSetOf(marks);
  const plan = JSON.stringify(e.plan);
  await db.query(
    `with run as (
       insert into executions (account_id, id, project_id, pipeline_id, pipeline_version, run_sequence, status, plan, state,
                               trigger_type, triggered_by, input_yaml, created_at, started_at, ended_at,
                               started_by, notes, tags, failure, rerun_info, principals,
                               stages, stage_states, last_node_id, mark_set_id)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $24, $25, $26, $27, $28)),
     mark_set as (
       insert into execution_mark_sets (account_id, project_id, id, services, environments) values ($1, $3, $28, $29, $30)
       on conflict do nothing)
     insert into execution_marks (account_id, kind, name, value, execution_id)
     select $1, s.kind, s.name, s.value, $2 from unnest($21::text[], $22::text[], $23::text[]) as s (kind, name, value)`,
    [
      e.accountId,
      e.id,
      e.projectId,
      e.pipelineId,
      e.pipelineVersion,
      e.runSequence,
      e.state.status,
      plan,
      JSON.stringify(e.state),
      e.triggerType,
      JSON.stringify(e.triggeredBy),
      e.inputYaml,
      e.createdAt,
      e.state.startedAt,
      e.state.endedAt,
      e.startedBy,
      e.notes,
      JSON.stringify(tagsOf(e.plan)),
      failureText(e.state),
      e.rerunInfo && JSON.stringify(e.rerunInfo),
      marks.map(({ kind }) => kind),
      marks.map(({ name }) => name),
      marks.map(({ value }) => value),
      JSON.stringify(e.principals),
      JSON.stringify(packStages(stagesOf(e.plan))),
      storedStates(e.state, stageIdsOf(e.plan)),
      lastNodeOf(e.plan),
      markSet.id,
      markSet.services,
      markSet.environments,
    ],
  );
  return plan.length;
}

const storedStates = (state: State, stageIds: readonly string[]): string =>
  JSON.stringify(packStates(stageStatesOf(state, stageIds), stageIds));

const failureText = ({ failure }: State): string | null => failure && storable(failure.message);

/**
 * The state as it is stored, locked until the transaction ends: events of one execution take turns (invariant 2). Undefined
 * when there is no such execution.
 */
export async function lockState(db: Store, accountId: Uuid, id: Uuid): Promise<unknown> {
  const rows = await db.query<{ state: unknown }>(
    `select state from executions where account_id = $1 and id = $2 for no key update`,
    [accountId, id],
  );
  return rows[0]?.state;
}

/** With the length of its JSON in characters. */
export async function findPlan(
  db: Store,
  accountId: Uuid,
  id: Uuid,
): Promise<{ readonly plan: Plan; readonly length: number } | undefined> {
  const rows = await db.query<{ plan: Plan; length: number }>(
    `select plan, length(plan::text) as length from executions where account_id = $1 and id = $2`,
    [accountId, id],
  );
  return rows[0];
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
 * Final states are sinks: the condition holds even if the engine were wrong. `stages`: the ids of the run's stages.
 */
export async function saveState(
  db: Store,
  { accountId, id }: RunKey,
  state: State,
  timers: TimerChanges,
  stages: readonly string[],
): Promise<void> {
  const { started, stopped } = timers;
  const rows = await db.query(
    `with stopped as (
       delete from execution_timers t using unnest($6::uuid[], $7::int[]) as s (node_id, attempt)
        where t.account_id = $1 and t.execution_id = $2 and t.node_id = s.node_id and t.attempt = s.attempt),
     started as (
       insert into execution_timers (account_id, execution_id, node_id, attempt, due_at)
       select $1, $2, s.node_id, s.attempt, s.due_at from unnest($8::uuid[], $9::int[], $10::bigint[]) as s (node_id, attempt, due_at))
     update executions set status = $3, state = $4, started_at = $5, ended_at = $11, failure = $12, stage_states = $13
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
      failureText(state),
      storedStates(state, stages),
    ],
  );
  if (rows.length === 0) throw new Error(`execution ${id} has ended; its state cannot change any more`);
}

/** Ends an execution whatever its state was, unless it has ended, and takes all its timers away. Its plan may be damaged. */
export async function endErrored(db: Store, { accountId, id }: RunKey, state: State): Promise<void> {
  await db.query(
    `with stopped as (delete from execution_timers where account_id = $1 and execution_id = $2)
     update executions set status = $3, state = $4, ended_at = $5, failure = $6, stage_states = null
      where account_id = $1 and id = $2
        and status not in ('succeeded', 'ignored', 'failed', 'errored', 'aborted', 'expired', 'rejected', 'skipped')`,
    [accountId, id, state.status, JSON.stringify(state), state.endedAt, failureText(state)],
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
