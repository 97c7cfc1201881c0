import type { Uuid } from "../../core/ids.ts";
import type { Db, Store } from "../../platform/db/db.ts";
import type { Delegate } from "../delegate.ts";
import type { NewTask, TaskFor, Work } from "../task.ts";
import { mayHold, type Holder } from "./standing.ts";

/**
 * Each waiting task of a queue gets its turn by this much later than the one before it. A queue with many waiting
 * tasks gets one slot for each second of waiting before later tasks of other queues.
 */
const TURN_MS = 1_000;

/** Leases the task to the holder if the delegate is enabled and its token is valid; returns whether it is leased. */
export async function insertTask(
  db: Store,
  task: NewTask & { readonly id: Uuid; readonly holder: Holder | undefined; readonly at: number },
): Promise<boolean> {
  const rows = await db.query<{ leased: boolean }>(
    `insert into tasks (account_id, id, run_id, node_id, attempt, status, epoch, delegate_id, selectors, work, created_at, leased_at,
                        queue_id, turn)
     select $1, $2, $3, $4, $5, case when holder is null then 'ready' else 'leased' end,
            case when holder is null then 0 else 1 end, holder, $6, $7, $8, case when holder is null then null else $8::bigint end,
            $11, case when holder is not null or $11::uuid is null then $8::bigint
                 else greatest($8::bigint, ${TURN_MS} + (
                   select max(turn) from tasks where account_id = $1 and queue_id = $11 and status = 'ready')) end
       from (select (select $9::uuid where ${mayHold("$9", "$10", "$8")}) as holder) as new
     returning delegate_id is not null as leased`,
    [
      task.accountId,
      task.id,
      task.runId,
      task.nodeId,
      task.attempt,
      task.selectors,
      JSON.stringify(task.work),
      task.at,
      task.holder?.delegateId ?? null,
      task.holder?.tokenId ?? null,
      task.queueId,
    ],
  );
  return rows[0]?.leased ?? false;
}

export type TaskRow = TaskFor & {
  readonly id: Uuid;
  readonly status: "ready" | "leased" | "finished";
  readonly epoch: number;
  readonly delegateId: Uuid | null;
  readonly logOffset: number;
  readonly cancelling: boolean;
  /** How often a delegate has returned it. */
  readonly returns: number;
};

const TASK = `account_id as "accountId", id, run_id as "runId", node_id as "nodeId", attempt, status, epoch,
  delegate_id as "delegateId", log_offset as "logOffset", cancelling, returns`;

/** Returns and locks the row. */
export async function lockTask(db: Store, accountId: Uuid, id: Uuid): Promise<TaskRow | undefined> {
  const rows = await db.query<TaskRow>(`select ${TASK} from tasks where account_id = $1 and id = $2 for update`, [
    accountId,
    id,
  ]);
  return rows[0];
}

/** The same, and whether this delegate may now lease tasks with its token. */
export async function lockTaskFor(
  db: Store,
  { accountId, id, at, ...holder }: Holder & { readonly accountId: Uuid; readonly id: Uuid; readonly at: number },
): Promise<(TaskRow & { readonly isEntitled: boolean }) | undefined> {
  const rows = await db.query<TaskRow & { isEntitled: boolean }>(
    `select ${TASK}, ${mayHold("$3", "$4", "$5")} as "isEntitled" from tasks
      where account_id = $1 and id = $2 for update`,
    [accountId, id, holder.delegateId, holder.tokenId, at],
  );
  return rows[0];
}

/** The run of a task, without a lock. */
export async function findRunOf(db: Store, accountId: Uuid, id: Uuid): Promise<Uuid | undefined> {
  const rows = await db.query<{ runId: Uuid }>(
    `select run_id as "runId" from tasks where account_id = $1 and id = $2`,
    [accountId, id],
  );
  return rows[0]?.runId;
}

/** Whether the delegate leases the task or leased it last. */
export async function hasDelegate(
  db: Pick<Db, "tuples">,
  delegate: Pick<Delegate, "accountId" | "id">,
  id: Uuid,
): Promise<boolean> {
  const rows = await db.tuples("select 1 from tasks where account_id = $1 and id = $2 and delegate_id = $3", [
    delegate.accountId,
    id,
    delegate.id,
  ]);
  return rows.length > 0;
}

/** The attempt of a task and the delegate that leases it; undefined unless it is leased under this epoch. */
export async function findLease(
  db: Store,
  accountId: Uuid,
  id: Uuid,
  epoch: number,
): Promise<(TaskFor & { readonly delegate: { readonly id: Uuid; readonly name: string } }) | undefined> {
  const rows = await db.query<TaskFor & { delegateId: Uuid; name: string }>(
    `select t.account_id as "accountId", t.run_id as "runId", t.node_id as "nodeId", t.attempt,
            d.id as "delegateId", d.name
       from tasks t join delegates d on d.account_id = t.account_id and d.id = t.delegate_id
      where t.account_id = $1 and t.id = $2 and t.epoch = $3 and t.status = 'leased'`,
    [accountId, id, epoch],
  );
  return rows.map(({ delegateId, name, ...task }) => ({ ...task, delegate: { id: delegateId, name } }))[0];
}

export async function lockTaskOf(db: Store, task: TaskFor): Promise<TaskRow | undefined> {
  const rows = await db.query<TaskRow>(
    `select ${TASK} from tasks where account_id = $1 and run_id = $2 and node_id = $3 and attempt = $4 for update`,
    [task.accountId, task.runId, task.nodeId, task.attempt],
  );
  return rows[0];
}

/** The unfinished tasks of a run, locked in one order. */
export async function lockOpenTasks(db: Store, accountId: Uuid, runId: Uuid): Promise<TaskRow[]> {
  return db.query<TaskRow>(
    `select ${TASK} from tasks where account_id = $1 and run_id = $2 and status <> 'finished' order by id for update`,
    [accountId, runId],
  );
}

export async function advanceLog(db: Store, accountId: Uuid, id: Uuid, offset: number): Promise<void> {
  await db.query(`update tasks set log_offset = $3 where account_id = $1 and id = $2 and status = 'leased'`, [
    accountId,
    id,
    offset,
  ]);
}

/**
 * The status in the condition makes `finished` final, even if a caller did not check it. Removes script and
 * environment, which can be large and are no longer read.
 */
export async function closeTask(
  db: Store,
  task: { accountId: Uuid; id: Uuid; epoch: number; logOffset: number; at: number },
): Promise<boolean> {
  const rows = await db.query(
    `update tasks set status = 'finished', finished_at = $4, log_offset = $5, work = '{}'
      where account_id = $1 and id = $2 and epoch = $3 and status <> 'finished' returning id`,
    [task.accountId, task.id, task.epoch, task.at, task.logOffset],
  );
  return rows.length > 0;
}

export async function markCancelling(db: Store, accountId: Uuid, id: Uuid): Promise<void> {
  await db.query(`update tasks set cancelling = true where account_id = $1 and id = $2`, [accountId, id]);
}

export type LeasedWork = { readonly id: Uuid; readonly runId: Uuid; readonly epoch: number; readonly work: Work };

export type Wanted = Holder & {
  readonly accountId: Uuid;
  readonly selectors: readonly string[];
  readonly most: number;
  readonly at: number;
};

/**
 * Tasks that continue a run come first, then by turn. Rows that another replica is leasing are skipped, so that each
 * task is leased once. None when the delegate's token is no longer valid or the delegate is not enabled.
 */
export async function leaseReady(db: Store, wanted: Wanted): Promise<LeasedWork[]> {
  return db.query<LeasedWork>(
    // Selected once: as a subquery of the update it may run again for each row and lock more rows than the limit.
    `with chosen as materialized (
       select id from tasks where account_id = $1 and status = 'ready' and selectors <@ $3::text[]
          and ${mayHold("$2", "$6", "$5")}
        order by (queue_id is null) desc, turn, id for update skip locked limit $4)
     update tasks t set status = 'leased', epoch = t.epoch + 1, delegate_id = $2, leased_at = $5
       from chosen where t.account_id = $1 and t.id = chosen.id
     returning t.id, t.run_id as "runId", t.epoch, t.work`,
    [wanted.accountId, wanted.delegateId, wanted.selectors, wanted.most, wanted.at, wanted.tokenId],
  );
}

export type Lease = {
  readonly accountId: Uuid;
  readonly id: Uuid;
  readonly epoch: number;
  readonly leasedAt: number;
};

/**
 * Makes a task that was never sent ready again. Not a task that is being cancelled: its delegate's return or loss
 * ends it.
 */
export async function releaseTask(db: Store, task: Lease): Promise<boolean> {
  const rows = await db.query(
    `update tasks set status = 'ready', delegate_id = null, leased_at = null
      where account_id = $1 and id = $2 and epoch = $3 and leased_at = $4 and status = 'leased' and not cancelling returning id`,
    [task.accountId, task.id, task.epoch, task.leasedAt],
  );
  return rows.length > 0;
}

/**
 * Renews the time of leases that a hello found and that are sent again, so that `releaseTask` does not release them.
 */
export async function renewLeases(db: Store, accountId: Uuid, ids: readonly Uuid[], at: number): Promise<void> {
  if (ids.length === 0) return;
  await db.query(
    `update tasks set leased_at = greatest(leased_at + 1, $3)
      where account_id = $1 and id = any($2::uuid[]) and status = 'leased'`,
    [accountId, ids, at],
  );
}

/** Makes a leased task ready again, for any delegate to take under the next epoch. */
export async function returnTask(db: Store, accountId: Uuid, id: Uuid, epoch: number): Promise<void> {
  await db.query(
    `update tasks set status = 'ready', delegate_id = null, leased_at = null, returns = returns + 1
      where account_id = $1 and id = $2 and epoch = $3 and status = 'leased'`,
    [accountId, id, epoch],
  );
}

export type HeldTask = {
  readonly id: Uuid;
  readonly runId: Uuid;
  readonly epoch: number;
  readonly logOffset: number;
  readonly cancelling: boolean;
  readonly work: Work;
};

/** Everything leased to the delegate, locked: no task may end while its session starts. */
export async function lockLeasedTo(db: Store, accountId: Uuid, delegateId: Uuid): Promise<HeldTask[]> {
  return db.query<HeldTask>(
    `select id, run_id as "runId", epoch, log_offset as "logOffset", cancelling, work from tasks
      where account_id = $1 and delegate_id = $2 and status = 'leased' order by id for update`,
    [accountId, delegateId],
  );
}

export async function countLeasedTo(db: Store, accountId: Uuid, delegateId: Uuid): Promise<number> {
  const rows = await db.query<{ n: number }>(
    `select count(*) as n from tasks where account_id = $1 and delegate_id = $2 and status = 'leased'`,
    [accountId, delegateId],
  );
  return rows[0]?.n ?? 0;
}

/** Tasks leased to one of these delegates before `before`; their sessions should know them. */
export async function leasedTo(
  db: Store,
  delegateIds: readonly Uuid[],
  before: number,
): Promise<{ id: Uuid; delegateId: Uuid; cancelling: boolean; epoch: number }[]> {
  return db.query(
    `select id, delegate_id as "delegateId", cancelling, epoch from tasks
      where status = 'leased' and delegate_id = any($1::uuid[]) and leased_at < $2`,
    [delegateIds, before],
  );
}

/** The delegate of each attempt. */
export async function delegatesOf(
  db: Store,
  accountId: Uuid,
  runId: Uuid,
): Promise<{ nodeId: Uuid; attempt: number; taskId: Uuid; delegateId: Uuid; name: string }[]> {
  return db.query(
    `select t.node_id as "nodeId", t.attempt, t.id as "taskId", d.id as "delegateId", d.name
       from tasks t join delegates d on d.account_id = t.account_id and d.id = t.delegate_id
      where t.account_id = $1 and t.run_id = $2`,
    [accountId, runId],
  );
}

/** Filters the runs that have an unfinished task. */
export async function openRuns(db: Store, accountId: Uuid, runIds: readonly Uuid[]): Promise<readonly Uuid[]> {
  const rows = await db.query<{ runId: Uuid }>(
    `select distinct run_id as "runId" from tasks where account_id = $1 and run_id = any($2) and status <> 'finished'`,
    [accountId, runIds],
  );
  return rows.map(({ runId }) => runId);
}

export async function anyUnfinished(db: Store, accountId: Uuid, runIds: readonly Uuid[]): Promise<boolean> {
  const rows = await db.query(
    `select 1 from tasks where account_id = $1 and run_id = any($2) and status <> 'finished' limit 1`,
    [accountId, runIds],
  );
  return rows.length > 0;
}

export async function deleteTasks(db: Store, accountId: Uuid, runIds: readonly Uuid[]): Promise<void> {
  await db.query(`delete from tasks where account_id = $1 and run_id = any($2)`, [accountId, runIds]);
}
