import type { Uuid } from "../../core/ids.ts";
import type { Query } from "../../platform/db/db.ts";
import type { Started } from "../started.ts";

type Store = { readonly query: Query };

/** A key belongs to its caller and to one operation. */
export type IdempotencyKey = {
  readonly accountId: Uuid;
  readonly actorId: Uuid;
  readonly operation: string;
  readonly key: string;
};

export type KeptAnswer = {
  readonly requestHash: Buffer;
  readonly started: Started;
  /** The pipeline that was started; null once the execution is deleted. */
  readonly pipelineId: Uuid | null;
};

const VALUES = ({ accountId, actorId, operation, key }: IdempotencyKey): unknown[] => [
  accountId,
  actorId,
  operation,
  key,
];
const KEY = "account_id = $1 and actor_id = $2 and operation = $3 and key = $4";

/** What the key has started after `since`. */
export async function findAnswer(db: Store, key: IdempotencyKey, since: number): Promise<KeptAnswer | undefined> {
  const rows = await db.query<KeptAnswer>(
    `select request_hash as "requestHash", started,
            (select e.pipeline_id from executions e
              where e.account_id = $1 and e.id = (k.started ->> 'id')::uuid) as "pipelineId"
       from idempotency_keys k where ${KEY} and created_at > $5 and started is not null`,
    [...VALUES(key), since],
  );
  return rows[0];
}

/**
 * Takes the key, unless it was used after `since`; whether it did. Of two requests at once the second waits here until the
 * first has committed, or takes the key when that has failed.
 */
export async function claimKey(
  db: Store,
  key: IdempotencyKey,
  { requestHash, at, since }: { requestHash: Buffer; at: number; since: number },
): Promise<boolean> {
  const rows = await db.query(
    `insert into idempotency_keys as kept (account_id, actor_id, operation, key, request_hash, created_at)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (account_id, actor_id, operation, key)
       do update set request_hash = excluded.request_hash, created_at = excluded.created_at, started = null
        where kept.created_at <= $7
     returning key`,
    [...VALUES(key), requestHash, at, since],
  );
  return rows.length > 0;
}

export async function keepAnswer(db: Store, key: IdempotencyKey, started: Started): Promise<void> {
  await db.query(`update idempotency_keys set started = $5 where ${KEY}`, [...VALUES(key), JSON.stringify(started)]);
}

/** Across accounts: the sweep serves them all. */
export async function deleteKeys(db: Store, before: number, most: number): Promise<void> {
  await db.query(
    `delete from idempotency_keys where (account_id, actor_id, operation, key) in (
       select account_id, actor_id, operation, key from idempotency_keys where created_at <= $1 order by created_at limit $2)`,
    [before, most],
  );
}
