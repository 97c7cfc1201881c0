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
 * Answers how many it has granted. It leaves out a request that has been granted, or that another transaction is
 * deleting: waiting for that one could be a deadlock, and its end leads to the next grant.
 */
export async function grantRequests(db: Store, accountId: Uuid, turns: readonly number[], at: number): Promise<number> {
  const rows = await db.query(
    `update execution_locks set granted_at = $3 where account_id = $1 and turn in (
       select turn from execution_locks where account_id = $1 and turn = any ($2::bigint[]) and granted_at is null
        for update skip locked)
     returning turn`,
    [accountId, turns, at],
  );
  return rows.length;
}

export type Granted = {
  readonly accountId: Uuid;
  readonly turn: number;
  readonly executionId: Uuid;
  readonly nodeId: Uuid;
};

const GRANTED = `account_id as "accountId", turn, execution_id as "executionId", node_id as "nodeId"`;

/** Grants of a key of which the execution has not been told. */
export const findGranted = (db: Store, { accountId, kind, key }: LockKey, limit: number): Promise<Granted[]> =>
  db.query<Granted>(
    `select ${GRANTED} from execution_locks
      where account_id = $1 and kind = $2 and key = $3 and granted_at is not null and answered_at is null
      order by turn limit $4`,
    [accountId, kind, key, limit],
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

/** Each key is read once, however many nodes of the execution wait for it. */
export const findWaiting = (db: Store, accountId: Uuid, executionId: Uuid): Promise<WaitingNode[]> =>
  db.query<WaitingNode>(
    `with keys as (
       select distinct kind, key from execution_locks
        where account_id = $1 and execution_id = $2 and granted_at is null),
     queue as (
       select l.execution_id, l.node_id, l.kind, l.key,
              (row_number() over (partition by l.kind, l.key order by l.turn))::integer as position
         from keys k join execution_locks l
           on l.account_id = $1 and l.kind = k.kind and l.key = k.key and l.granted_at is null),
     held as (
       select k.kind, k.key, array(select distinct g.execution_id from execution_locks g
                where g.account_id = $1 and g.kind = k.kind and g.key = k.key and g.granted_at is not null) as holders
         from keys k)
     select q.node_id as "nodeId", q.kind, q.key, q.position, h.holders
       from queue q join held h on h.kind = q.kind and h.key = q.key where q.execution_id = $2`,
    [accountId, executionId],
  );
