/** Tasks: inserted, locked, cancelled and closed. leases.ts has the statements that give them to delegates. */
import { capabilityOf, type Capability } from "../../../protocol/versions.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Store } from "../../platform/db/db.ts";
import type { NewTask, TaskFor } from "../task.ts";
import { mayLease, type Holder } from "./token-validity.ts";

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
                        queue_id, turn, capability)
     select $1, $2, $3, $4, $5, case when holder is null then 'ready' else 'leased' end,
            case when holder is null then 0 else 1 end, holder, $6, $7, $8, case when holder is null then null else $8::bigint end,
            $11, case when holder is not null or $11::uuid is null then $8::bigint
                 else greatest($8::bigint, ${TURN_MS} + (
                   select max(turn) from tasks where account_id = $1 and queue_id = $11 and status = 'ready')) end,
            $12
       from (select (select $9::uuid where ${mayLease("$9", "$10", "$8")}) as holder) as new
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
      capabilityOf(task.work),
    ],
  );
  return rows[0]?.leased ?? false;
}

export type TaskKey = { readonly accountId: Uuid; readonly id: Uuid };

export type TaskRow = TaskFor & {
  readonly id: Uuid;
  readonly status: "ready" | "leased" | "finished";
  readonly epoch: number;
  readonly delegateId: Uuid | null;
  readonly logOffset: number;
  readonly cancelling: boolean;
  /** Kind and version of its work. */
  readonly capability: Capability;
  /** How often a delegate has returned it. */
  readonly returns: number;
};

const TASK = `account_id as "accountId", id, run_id as "runId", node_id as "nodeId", attempt, status, epoch,
  delegate_id as "delegateId", log_offset as "logOffset", cancelling, capability, returns`;

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
    `select ${TASK}, ${mayLease("$3", "$4", "$5")} as "isEntitled" from tasks
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

export async function advanceLog(db: Store, { accountId, id }: TaskKey, offset: number): Promise<void> {
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
