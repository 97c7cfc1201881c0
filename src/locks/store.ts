import type { Uuid } from "../core/ids.ts";
import type { Store } from "../platform/db/db.ts";
import type { LockKey, LockRequest } from "./lock.ts";

const KEY = `account_id as "accountId", kind, key`;

export type NewRequest = Pick<LockRequest, "holderId" | "around"> & {
  readonly executionId: Uuid;
  readonly nodeId: Uuid;
  readonly at: number;
};

type Columns = readonly (string | number | readonly string[])[];

const columnsOf = ({ accountId, kind, key }: LockKey, request: NewRequest): Columns => {
  const { executionId, nodeId, holderId, around, at } = request;
  return [accountId, kind, key, executionId, nodeId, holderId, around, at];
};

export async function insertRequest(db: Store, key: LockKey, request: NewRequest): Promise<void> {
  await db.query(
    `insert into execution_locks (account_id, kind, key, execution_id, node_id, holder_id, around, requested_at)
     values ($1, $2, $3, $4, $5, $6, $7::uuid[], $8)`,
    columnsOf(key, request),
  );
}

/** Inserts a request as granted and answered if the key has no other one. The caller has locked the key. */
export async function insertGranted(db: Store, key: LockKey, request: NewRequest): Promise<boolean> {
  const rows = await db.query(
    `insert into execution_locks
       (account_id, kind, key, execution_id, node_id, holder_id, around, requested_at, granted_at, answered_at)
     select $1, $2, $3, $4, $5, $6, $7::uuid[], $8, $8, $8
      where not exists (
          select 1 from execution_locks where account_id = $1 and kind = $2 and key = $3 and granted_at is not null)
        and not exists (
          select 1 from execution_locks where account_id = $1 and kind = $2 and key = $3 and granted_at is null)
     returning turn`,
    columnsOf(key, request),
  );
  return rows.length > 0;
}

/** Deletes the request of a node of which its execution has not been told. Answers its key. */
export const deleteUnanswered = (db: Store, accountId: Uuid, nodeId: Uuid, executionId: Uuid): Promise<LockKey[]> =>
  db.query<LockKey>(
    `delete from execution_locks
      where account_id = $1 and execution_id = $2 and node_id = $3 and answered_at is null returning ${KEY}`,
    [accountId, executionId, nodeId],
  );

/** Deletes what a holder has or waits for; of the whole execution without one. Answers the keys. */
export const deleteOfHolder = (
  db: Store,
  accountId: Uuid,
  executionId: Uuid,
  holderId: Uuid | null,
): Promise<LockKey[]> =>
  db.query<LockKey>(
    `delete from execution_locks
      where account_id = $1 and execution_id = $2 and ($3::uuid is null or holder_id = $3) returning ${KEY}`,
    [accountId, executionId, holderId],
  );

const HASH = `hashtextextended('railhead.lock ' || $1::text || ' ' || $2 || ' ' || $3, 0)`;

/** Until the transaction ends, no other one grants this key. */
export async function lockKey(db: Store, { accountId, kind, key }: LockKey): Promise<void> {
  await db.query(`select pg_advisory_xact_lock(${HASH})`, [accountId, kind, key]);
}

/**
 * The same without waiting; false if another transaction has locked the key. Not a part of the statement that reads the
 * requests: that one has to see what the last holder has committed.
 */
export async function tryLockKey(db: Store, { accountId, kind, key }: LockKey): Promise<boolean> {
  const text = `select pg_try_advisory_xact_lock(${HASH}) as "isLocked"`;
  const [row] = await db.query<{ isLocked: boolean }>(text, [accountId, kind, key]);
  return row?.isLocked === true;
}

/** Who has the key, who is first in the queue, and the requests of executions that have it, by their turn. */
export const findRequests = (db: Store, { accountId, kind, key }: LockKey): Promise<LockRequest[]> =>
  db.query<LockRequest>(
    `with granted as (
       select turn, execution_id from execution_locks
        where account_id = $1 and kind = $2 and key = $3 and granted_at is not null),
     first as (
       select turn from execution_locks
        where account_id = $1 and kind = $2 and key = $3 and granted_at is null order by turn limit 1),
     own as (
       select turn from execution_locks
        where account_id = $1 and execution_id in (select execution_id from granted) and kind = $2 and key = $3)
     select turn, holder_id as "holderId", around, granted_at is not null as "isGranted" from execution_locks
      where account_id = $1 and turn in (select turn from granted union select turn from first union select turn from own)
      order by execution_locks.turn`,
    [accountId, kind, key],
  );

/**
 * False if the request has been granted, or another transaction is deleting it: waiting for that one could be a deadlock,
 * and its end leads to the next grant.
 */
export async function grantRequest(db: Store, accountId: Uuid, turn: number, at: number): Promise<boolean> {
  const rows = await db.query(
    `update execution_locks set granted_at = $3 where account_id = $1 and turn in (
       select turn from execution_locks where account_id = $1 and turn = $2 and granted_at is null for update skip locked)
     returning turn`,
    [accountId, turn, at],
  );
  return rows.length > 0;
}

export type Granted = {
  readonly accountId: Uuid;
  readonly turn: number;
  readonly executionId: Uuid;
  readonly nodeId: Uuid;
};

const GRANTED = `account_id as "accountId", turn, execution_id as "executionId", node_id as "nodeId"`;

/** Grants of a key of which the execution has not been told. */
export const findGranted = (db: Store, { accountId, kind, key }: LockKey): Promise<Granted[]> =>
  db.query<Granted>(
    `select ${GRANTED} from execution_locks
      where account_id = $1 and kind = $2 and key = $3 and granted_at is not null and answered_at is null`,
    [accountId, kind, key],
  );

export async function isUnanswered(db: Store, accountId: Uuid, turn: number): Promise<boolean> {
  const rows = await db.query(
    `select 1 from execution_locks
      where account_id = $1 and turn = $2 and granted_at is not null and answered_at is null`,
    [accountId, turn],
  );
  return rows.length > 0;
}

/** No row, if the holder has ended with the answer. */
export async function markAnswered(db: Store, accountId: Uuid, turn: number, at: number): Promise<void> {
  await db.query(`update execution_locks set answered_at = $3 where account_id = $1 and turn = $2`, [
    accountId,
    turn,
    at,
  ]);
}

/** Keys with a request that may be granted or answered, across accounts. */
export const findServableKeys = (db: Store): Promise<LockKey[]> =>
  db.query<LockKey>(
    `select distinct ${KEY} from execution_locks w
      where granted_at is null and not exists (
        select 1 from execution_locks g
         where g.account_id = w.account_id and g.kind = w.kind and g.key = w.key and g.granted_at is not null
           and g.execution_id <> w.execution_id)
     union
     select ${KEY} from execution_locks where granted_at is not null and answered_at is null`,
  );

export type WaitingNode = {
  readonly nodeId: Uuid;
  readonly kind: LockKey["kind"];
  readonly key: string;
  /** Requests of the key that are served before, and this one. */
  readonly position: number;
  /** Executions that have the key. */
  readonly holders: readonly Uuid[];
};

export const findWaiting = (db: Store, accountId: Uuid, executionId: Uuid): Promise<WaitingNode[]> =>
  db.query<WaitingNode>(
    `select w.node_id as "nodeId", w.kind, w.key,
            (select count(*)::integer from execution_locks b
              where b.account_id = $1 and b.kind = w.kind and b.key = w.key and b.granted_at is null and b.turn <= w.turn)
              as position,
            array(select distinct g.execution_id from execution_locks g
              where g.account_id = $1 and g.kind = w.kind and g.key = w.key and g.granted_at is not null) as holders
       from execution_locks w where w.account_id = $1 and w.execution_id = $2 and w.granted_at is null`,
    [accountId, executionId],
  );
