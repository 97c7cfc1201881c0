import type { Uuid } from "../../core/ids.ts";
import type { Store } from "../../platform/db/db.ts";
import { FROM, readRow, TRIGGER, type TriggerKey, type TriggerRow } from "./triggers.ts";
import type { Trigger } from "../trigger.ts";

/** A trigger that a change expects at this version; undefined for any version. */
export type ExpectedTrigger = TriggerKey & { readonly version: number | undefined };

/** Locks the trigger until the end of the transaction, against changes and new deliveries. */
export async function lockTrigger(
  db: Store,
  { accountId, pipelineId, identifier }: TriggerKey,
): Promise<Trigger | undefined> {
  // Locks before the join, because a statement that waited for a lock does not read joined tables again.
  const values = [accountId, pipelineId, identifier];
  await db.query(
    `select 1 from triggers where account_id = $1 and pipeline_id = $2 and identifier = $3 and deleted_at is null
        for update`,
    values,
  );
  const rows = await db.query<TriggerRow>(
    `select ${TRIGGER} ${FROM}
      where t.account_id = $1 and t.pipeline_id = $2 and t.identifier = $3 and t.deleted_at is null`,
    values,
  );
  return rows.map(readRow)[0];
}

export type Replacement = Pick<
  Trigger,
  "name" | "description" | "tags" | "enabled" | "yaml" | "author" | "runAs" | "updatedAt"
>;

/** Returns the new version; undefined if the trigger is missing or has another version. Its token stays. */
export async function replaceTrigger(
  db: Store,
  { accountId, pipelineId, identifier, version }: ExpectedTrigger,
  to: Replacement,
): Promise<number | undefined> {
  const rows = await db.query<{ version: number }>(
    `update triggers
        set name = $4, description = $5, tags = $6, enabled = $7, yaml = $8, author_kind = $9, author_id = $10, run_as = $11,
            updated_at = $12, version = version + 1
      where account_id = $1 and pipeline_id = $2 and identifier = $3 and deleted_at is null
        and ($13::int is null or version = $13)
      returning version`,
    [
      accountId,
      pipelineId,
      identifier,
      to.name,
      to.description,
      JSON.stringify(to.tags),
      to.enabled,
      to.yaml,
      to.author?.kind ?? null,
      to.author?.id ?? null,
      to.runAs,
      to.updatedAt,
      version ?? null,
    ],
  );
  return rows[0]?.version;
}

/**
 * Returns the id; undefined if the trigger is missing or has another version. The row stays for the names in
 * deliveries; its token is removed.
 */
export async function markDeleted(
  db: Store,
  { accountId, pipelineId, identifier, version }: ExpectedTrigger,
  at: number,
): Promise<Uuid | undefined> {
  const rows = await db.query<{ id: Uuid }>(
    `update triggers set deleted_at = $4, token_hash = null, token_sealed = null
      where account_id = $1 and pipeline_id = $2 and identifier = $3 and deleted_at is null
        and ($5::int is null or version = $5)
      returning id`,
    [accountId, pipelineId, identifier, at, version ?? null],
  );
  return rows[0]?.id;
}

/** Closes the pending deliveries of a trigger without an execution. */
export const closePendingDeliveries = (
  db: Store,
  { accountId, triggerId }: { readonly accountId: Uuid; readonly triggerId: Uuid },
  outcome: { readonly status: string; readonly message: string; readonly at: number },
): Promise<unknown> =>
  db.query(
    `update webhook_deliveries set processed_at = $3, status = $4, message = $5, payload = '', headers = '{}'
      where account_id = $1 and trigger_id = $2 and processed_at is null`,
    [accountId, triggerId, outcome.at, outcome.status, outcome.message],
  );
