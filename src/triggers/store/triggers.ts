import type { RemovedReference } from "../../platform/removed-reference.ts";
import { summarizeRemoval } from "../../platform/db/removed-rows.ts";
import type { Uuid } from "../../core/ids.ts";
import { readAuthor, type AuthorColumns } from "../../identity/index.ts";
import type { Store } from "../../platform/db/db.ts";
import type { Delivery, DeliveryState, DeliveryStatus, Trigger, TriggerNames } from "../trigger.ts";

export const TRIGGER = `t.account_id as "accountId", t.id, t.project_id as "projectId", a.org_identifier as "orgIdentifier",
  a.identifier as "projectIdentifier", t.pipeline_id as "pipelineId", p.identifier as "pipelineIdentifier",
  t.identifier, t.name, t.description, t.tags, t.enabled, t.yaml, t.token_sealed as "tokenSealed",
  t.author_kind as "authorKind", t.author_id as "authorId", t.run_as as "runAs", t.version, t.created_at as "createdAt", t.updated_at as "updatedAt"`;

export const FROM = `from triggers t
  join projects a on a.account_id = t.account_id and a.id = t.project_id
  join pipelines p on p.account_id = t.account_id and p.id = t.pipeline_id`;

/** The condition that neither the trigger nor its pipeline is deleted. */
export const LIVE = "t.deleted_at is null and p.deleted_at is null";

export type TriggerRow = Omit<Trigger, "author"> & AuthorColumns;

export const readRow = ({ authorKind, authorId, ...row }: TriggerRow): Trigger => ({
  ...row,
  author: readAuthor({ authorKind, authorId }),
});

/** A trigger of an existing pipeline. */
export type TriggerKey = Pick<Trigger, "accountId" | "pipelineId" | "identifier">;

/** Returns false if the identifier is taken. */
export async function insertTrigger(db: Store, trigger: Trigger & { readonly tokenHash: Buffer }): Promise<boolean> {
  const rows = await db.query(
    `insert into triggers (account_id, id, project_id, pipeline_id, identifier, name, description, tags, enabled, yaml,
                           token_hash, token_sealed, author_kind, author_id, run_as, version, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
     on conflict (account_id, pipeline_id, identifier) where deleted_at is null do nothing returning id`,
    [
      trigger.accountId,
      trigger.id,
      trigger.projectId,
      trigger.pipelineId,
      trigger.identifier,
      trigger.name,
      trigger.description,
      JSON.stringify(trigger.tags),
      trigger.enabled,
      trigger.yaml,
      trigger.tokenHash,
      trigger.tokenSealed,
      trigger.author?.kind ?? null,
      trigger.author?.id ?? null,
      trigger.runAs,
      trigger.version,
      trigger.createdAt,
      trigger.updatedAt,
    ],
  );
  return rows.length > 0;
}

export async function selectTrigger(
  db: Store,
  { accountId, pipelineId, identifier }: TriggerKey,
): Promise<Trigger | undefined> {
  const rows = await db.query<TriggerRow>(
    `select ${TRIGGER} ${FROM} where t.account_id = $1 and t.pipeline_id = $2 and t.identifier = $3 and ${LIVE}`,
    [accountId, pipelineId, identifier],
  );
  return rows.map(readRow)[0];
}

export async function findTriggerByToken(db: Store, accountId: Uuid, tokenHash: Buffer): Promise<Trigger | undefined> {
  const rows = await db.query<TriggerRow>(
    `select ${TRIGGER} ${FROM} where t.account_id = $1 and t.token_hash = $2 and ${LIVE}`,
    [accountId, tokenHash],
  );
  return rows.map(readRow)[0];
}

/** Finds a trigger, also of a deleted pipeline. The start of its run then fails with a reason. */
export async function findTriggerById(db: Store, accountId: Uuid, id: Uuid): Promise<Trigger | undefined> {
  const rows = await db.query<TriggerRow>(
    `select ${TRIGGER} ${FROM} where t.account_id = $1 and t.id = $2 and t.deleted_at is null`,
    [accountId, id],
  );
  return rows.map(readRow)[0];
}

/** The triggers with these ids, in any order. */
export async function findTriggersById(db: Store, accountId: Uuid, ids: readonly Uuid[]): Promise<Trigger[]> {
  const rows = await db.query<TriggerRow>(
    `select ${TRIGGER} ${FROM} where t.account_id = $1 and t.id = any ($2::uuid[]) and t.deleted_at is null`,
    [accountId, ids],
  );
  return rows.map(readRow);
}

/** Returns the oldest trigger of this name, because names are not unique. */
export async function selectTriggerByName(
  db: Store,
  { accountId, projectId, name }: Pick<Trigger, "accountId" | "projectId" | "name">,
): Promise<Trigger | undefined> {
  const rows = await db.query<TriggerRow>(
    `select ${TRIGGER} ${FROM} where t.account_id = $1 and t.project_id = $2 and t.name = $3 and ${LIVE}
      order by t.id limit 1`,
    [accountId, projectId, name],
  );
  return rows.map(readRow)[0];
}

/** Returns the names of a trigger, also of a deleted one. */
export async function findTriggerNames(db: Store, accountId: Uuid, id: Uuid): Promise<TriggerNames | undefined> {
  const rows = await db.query<TriggerNames>(
    `select a.org_identifier as "orgIdentifier", a.identifier as "projectIdentifier",
            p.identifier as "pipelineIdentifier", t.identifier
       ${FROM} where t.account_id = $1 and t.id = $2`,
    [accountId, id],
  );
  return rows[0];
}

/** Whether the trigger exists and is not deleted. */
export async function isTriggerLive(db: Store, accountId: Uuid, id: Uuid): Promise<boolean> {
  const rows = await db.query(`select 1 from triggers where account_id = $1 and id = $2 and deleted_at is null`, [
    accountId,
    id,
  ]);
  return rows.length > 0;
}

/** Returns false if the trigger was deleted meanwhile. Locks the trigger, so that a later deletion finds the row. */
export async function insertDelivery(
  db: Store,
  delivery: Delivery,
  processed?: Pick<Outcome, "status" | "message">,
): Promise<boolean> {
  const rows = await db.query(
    `insert into webhook_deliveries (account_id, id, correlation_id, trigger_id, headers, payload, received_at, processed_at, status, message, replay_of)
     select t.account_id, $2, $3, t.id, $5, $6, $7, case when $8::text is null then null else $7::bigint end, $8, $9, $10 from triggers t
      where t.account_id = $1 and t.id = $4 and t.deleted_at is null for key share
     returning id`,
    [
      delivery.accountId,
      delivery.id,
      delivery.correlationId,
      delivery.triggerId,
      JSON.stringify(delivery.headers),
      delivery.payload,
      delivery.receivedAt,
      processed?.status ?? null,
      processed?.message ?? "",
      delivery.replayOf ?? null,
    ],
  );
  return rows.length > 0;
}

/**
 * Locks a pending delivery until the end of the transaction. Returns false if another replica processed it, or if the
 * trigger has another version: a change waits for starts of the former version, and none begins after it. The trigger
 * is locked first, as in its deletion, to avoid a deadlock.
 */
export async function lockDelivery(db: Store, delivery: Delivery, version: number): Promise<boolean> {
  const rows = await db.query(
    `with held as materialized (
       select id from triggers where account_id = $1 and id = $3 and version = $4 and deleted_at is null for share)
     select 1 from held join webhook_deliveries d on d.account_id = $1 and d.trigger_id = held.id
      where d.id = $2 and d.processed_at is null for update of d skip locked`,
    [delivery.accountId, delivery.id, delivery.triggerId, version],
  );
  return rows.length > 0;
}

export type Outcome = {
  readonly status: DeliveryStatus;
  readonly message: string;
  readonly executionId: Uuid | null;
  readonly at: number;
};

export async function closeDelivery(
  db: Store,
  { accountId, id }: Pick<Delivery, "accountId" | "id">,
  outcome: Outcome,
): Promise<void> {
  await db.query(
    `update webhook_deliveries set processed_at = $3, status = $4, message = $5, execution_id = $6,
            payload = case when $4 = 'TRIGGER_DISABLED' then '' else payload end,
            headers = case when $4 = 'TRIGGER_DISABLED' then '{}' else headers end
      where account_id = $1 and id = $2 and processed_at is null`,
    [accountId, id, outcome.at, outcome.status, outcome.message, outcome.executionId],
  );
}

const DELIVERY = `account_id as "accountId", id, correlation_id as "correlationId", trigger_id as "triggerId", headers,
  payload, received_at as "receivedAt"`;

/** Limits the memory of a sweep: at most 100 deliveries, each with up to 1 MiB. */
const SWEPT_BYTES = 16 * 1024 * 1024;

/**
 * Returns pending deliveries of all accounts, which a stopped server or an error left; without `except`. Accounts take
 * turns, and so do the triggers of each account, so that many deliveries of one do not hide those of others. Those of a
 * trigger are in the order of their arrival. Always includes the first one, and others while the bodies before them
 * have fewer bytes than `mostBytes`.
 */
export async function findPendingDeliveries(
  db: Store,
  before: number,
  except: readonly Uuid[],
  mostBytes = SWEPT_BYTES,
): Promise<Delivery[]> {
  return db.query<Delivery>(
    `with pending as (
       select account_id, id, row_number() over (partition by trigger_id order by id) as nth from webhook_deliveries
        where processed_at is null and received_at < $1 and id <> all ($2::uuid[])),
     turns as (
       select account_id, id, row_number() over (partition by account_id order by nth, id) as turn from pending
        order by turn, id limit 100)
     select ${DELIVERY} from (
       select w.*, t.turn, sum(octet_length(w.payload)) over (order by t.turn, id) - octet_length(w.payload) as bytes_before
         from turns t join webhook_deliveries w using (account_id, id)) w
      where bytes_before < $3 order by turn, id`,
    [before, except, mostBytes],
  );
}

export async function findDelivery(
  db: Store,
  accountId: Uuid,
  correlationId: string,
): Promise<(Delivery & DeliveryState) | undefined> {
  const rows = await db.query<Delivery & DeliveryState>(
    `select ${DELIVERY}, status, message, execution_id as "executionId"
       from webhook_deliveries where account_id = $1 and correlation_id = $2`,
    [accountId, correlationId],
  );
  return rows[0];
}

/** Deletes all triggers of a project with their deliveries. Returns only those that were not deleted before. */
export async function deleteTriggersOf(
  db: Store,
  accountId: Uuid,
  projectId: Uuid,
): Promise<readonly RemovedReference[]> {
  // Triggers are always locked before deliveries.
  await db.query("select 1 from triggers where account_id = $1 and project_id = $2 order by id for update", [
    accountId,
    projectId,
  ]);
  await db.query(
    `delete from webhook_deliveries d using triggers t
      where t.account_id = $1 and t.project_id = $2 and d.account_id = t.account_id and d.trigger_id = t.id`,
    [accountId, projectId],
  );
  await db.query("delete from triggers where account_id = $1 and project_id = $2 and deleted_at is not null", [
    accountId,
    projectId,
  ]);
  const triggers = "delete from triggers where account_id = $1 and project_id = $2 returning identifier as what";
  return summarizeRemoval(db, { type: "TRIGGER", text: triggers, values: [accountId, projectId] });
}
