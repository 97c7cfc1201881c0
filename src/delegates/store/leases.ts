/** Leases of tasks: given to delegates, renewed, released and returned. */
import type { Capability } from "../../../protocol/versions.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Db, Store } from "../../platform/db/db.ts";
import type { DelegateKey } from "../delegate.ts";
import type { TaskFor, Work } from "../task.ts";
import { mayLease, type Holder } from "./token-validity.ts";

/** A lease of a task; the epoch tells it from earlier ones. */
export type LeaseKey = { readonly accountId: Uuid; readonly id: Uuid; readonly epoch: number };

/** Whether the delegate leases the task or leased it last. */
export async function hasDelegate(db: Pick<Db, "tuples">, delegate: DelegateKey, id: Uuid): Promise<boolean> {
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
  { accountId, id, epoch }: LeaseKey,
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

export type LeasedWork = { readonly id: Uuid; readonly runId: Uuid; readonly epoch: number; readonly work: Work };

export type LeaseRequest = Holder & {
  readonly accountId: Uuid;
  readonly selectors: readonly string[];
  readonly capabilities: readonly Capability[];
  readonly most: number;
  readonly at: number;
};

/**
 * Tasks that continue a run come first, then by turn. Rows that another replica is leasing are skipped, so that each
 * task is leased once. None when the delegate's token is no longer valid or the delegate is not enabled.
 */
export async function leaseReady(db: Store, wanted: LeaseRequest): Promise<LeasedWork[]> {
  return db.query<LeasedWork>(
    // Selected once: as a subquery of the update it may run again for each row and lock more rows than the limit.
    `with chosen as materialized (
       select id from tasks where account_id = $1 and status = 'ready' and selectors <@ $3::text[]
          and capability = any($7::text[]) and ${mayLease("$2", "$6", "$5")}
        order by (queue_id is null) desc, turn, id for update skip locked limit $4)
     update tasks t set status = 'leased', epoch = t.epoch + 1, delegate_id = $2, leased_at = $5
       from chosen where t.account_id = $1 and t.id = chosen.id
     returning t.id, t.run_id as "runId", t.epoch, t.work`,
    [
      wanted.accountId,
      wanted.delegateId,
      wanted.selectors,
      wanted.most,
      wanted.at,
      wanted.tokenId,
      wanted.capabilities,
    ],
  );
}

export type Lease = LeaseKey & { readonly leasedAt: number };

/**
 * Makes a task that was never sent ready again. Not a task that is being cancelled: its delegate's return or loss
 * ends it. Returns the run of a task that is ready again.
 */
export async function releaseTask(db: Store, task: Lease): Promise<Uuid | undefined> {
  const rows = await db.query<{ runId: Uuid }>(
    `update tasks set status = 'ready', delegate_id = null, leased_at = null
      where account_id = $1 and id = $2 and epoch = $3 and leased_at = $4 and status = 'leased' and not cancelling
     returning run_id as "runId"`,
    [task.accountId, task.id, task.epoch, task.leasedAt],
  );
  return rows[0]?.runId;
}

/**
 * Renews the time of leases that a hello found and that are sent again, so that `releaseTask` does not release them.
 */
export async function renewLeases(
  db: Store,
  { accountId, ids }: { readonly accountId: Uuid; readonly ids: readonly Uuid[] },
  at: number,
): Promise<void> {
  if (ids.length === 0) return;
  await db.query(
    `update tasks set leased_at = greatest(leased_at + 1, $3)
      where account_id = $1 and id = any($2::uuid[]) and status = 'leased'`,
    [accountId, ids, at],
  );
}

/** Makes a leased task ready again, for any delegate to take under the next epoch. */
export async function returnTask(db: Store, { accountId, id, epoch }: LeaseKey): Promise<void> {
  await db.query(
    `update tasks set status = 'ready', delegate_id = null, leased_at = null, returns = returns + 1
      where account_id = $1 and id = $2 and epoch = $3 and status = 'leased'`,
    [accountId, id, epoch],
  );
}

export type LeasedTask = LeaseKey & {
  readonly runId: Uuid;
  readonly logOffset: number;
  readonly cancelling: boolean;
  readonly capability: Capability;
  readonly work: Work;
};

/** Everything leased to the delegate, locked: no task may end while its session starts. */
export async function lockLeasedTo(db: Store, delegate: DelegateKey): Promise<LeasedTask[]> {
  return db.query<LeasedTask>(
    `select account_id as "accountId", id, run_id as "runId", epoch, log_offset as "logOffset", cancelling, capability, work
       from tasks
      where account_id = $1 and delegate_id = $2 and status = 'leased' order by id for update`,
    [delegate.accountId, delegate.id],
  );
}

export async function countLeasedTo(db: Store, delegate: DelegateKey): Promise<number> {
  const rows = await db.query<{ n: number }>(
    `select count(*) as n from tasks where account_id = $1 and delegate_id = $2 and status = 'leased'`,
    [delegate.accountId, delegate.id],
  );
  return rows[0]?.n ?? 0;
}

/** Tasks leased to one of these delegates before `before`; their sessions should know them. */
export async function selectTasksLeasedTo(
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
