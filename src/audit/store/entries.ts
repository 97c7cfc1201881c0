import type { RequestFacts } from "../../core/actor.ts";
import type { Uuid } from "../../core/ids.ts";
import type { SortOrder, Window } from "../../core/page.ts";
import type { Store, Tx } from "../../platform/db/db.ts";
import type { AuditEntry, AuditFilter } from "../entry.ts";

const COLUMNS = `account_id, id, at, actor_kind, actor_id, actor_name, operation, resource_type, resource_id,
  org_identifier, project_identifier, actor_email, request_method, request_path, remote_address, correlation_id,
  difference, outcome, code, status, permission, attempts`;

export async function insertEntry(tx: Tx, entry: AuditEntry): Promise<void> {
  const { request } = entry;
  await tx.query(
    `insert into audit_entries (${COLUMNS})
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)`,
    [
      entry.accountId,
      entry.id,
      entry.at,
      entry.actorKind,
      entry.actorId,
      entry.actorName,
      entry.operation,
      entry.resourceType,
      entry.resourceId,
      entry.orgIdentifier,
      entry.projectIdentifier,
      entry.actorEmail,
      request?.method ?? null,
      request?.path ?? null,
      request?.remoteAddress ?? null,
      request?.correlationId ?? null,
      entry.difference && JSON.stringify(entry.difference),
      entry.outcome,
      entry.code,
      entry.status,
      entry.permission,
      entry.attempts,
    ],
  );
}

/** Inserts several entries with one statement. */
export async function insertEntries(tx: Tx, entries: readonly AuditEntry[]): Promise<void> {
  await tx.query(
    `insert into audit_entries (${COLUMNS})
     select ${COLUMNS} from jsonb_to_recordset($1) as e (
       account_id uuid, id uuid, at bigint, actor_kind text, actor_id uuid, actor_name text, operation text,
       resource_type text, resource_id text, org_identifier text, project_identifier text, actor_email text,
       request_method text, request_path text, remote_address text, correlation_id text, difference jsonb,
       outcome text, code text, status int, permission text, attempts int)`,
    [JSON.stringify(entries.map(rowOf))],
  );
}

const rowOf = ({ request, ...entry }: AuditEntry) => ({
  account_id: entry.accountId,
  id: entry.id,
  at: entry.at,
  actor_kind: entry.actorKind,
  actor_id: entry.actorId,
  actor_name: entry.actorName,
  operation: entry.operation,
  resource_type: entry.resourceType,
  resource_id: entry.resourceId,
  org_identifier: entry.orgIdentifier,
  project_identifier: entry.projectIdentifier,
  actor_email: entry.actorEmail,
  request_method: request?.method ?? null,
  request_path: request?.path ?? null,
  remote_address: request?.remoteAddress ?? null,
  correlation_id: request?.correlationId ?? null,
  difference: entry.difference,
  outcome: entry.outcome,
  code: entry.code,
  status: entry.status,
  permission: entry.permission,
  attempts: entry.attempts,
});

/** Those of the accounts that exist. */
export async function existingAccounts(db: Store, ids: readonly Uuid[]): Promise<ReadonlySet<Uuid>> {
  const rows = await db.query<{ id: Uuid }>(`select id from accounts where id = any ($1)`, [ids]);
  return new Set(rows.map(({ id }) => id));
}

const ENTRY = `account_id as "accountId", id, at, actor_kind as "actorKind", actor_id as "actorId", actor_name as "actorName",
  actor_email as "actorEmail", operation, resource_type as "resourceType", resource_id as "resourceId",
  org_identifier as "orgIdentifier", project_identifier as "projectIdentifier", request_method as "method",
  request_path as "path", remote_address as "remoteAddress", correlation_id as "correlationId",
  difference, outcome, code, status, permission, attempts`;

/** A service account's address begins with its identifier. */
const ACTOR_NAME = "case actor_kind when 'service_account' then split_part(actor_email, '@', 1) else actor_email end";

// Bounds instead of `is null or`, so that the index finds the newest entries of every period.
const MATCHES = `account_id = $1 and at >= coalesce($2::bigint, 0) and at <= coalesce($3::bigint, 9223372036854775807)
   and ($4::text[] is null or exists (select 1 from unnest($4::text[], $5::text[]) as s (org, project)
         where (s.org is null or s.org = org_identifier) and (s.project is null or s.project = project_identifier)))
   and ($6::text[] is null or exists (select 1 from unnest($6::text[], $7::text[]) as r (type, id)
         where r.type = resource_type and (r.id is null or r.id = resource_id)))
   and ($8::text[] is null or upper(replace(split_part(operation, '.', 2), '-', '_')) = any($8))
   and ($9::text[] is null or exists (select 1 from unnest($9::text[], $10::uuid[], $11::text[]) as a (kind, id, name)
         where a.kind = actor_kind and (a.id = actor_id or a.name = ${ACTOR_NAME})))
   and ($12::text[] is null or outcome = any ($12))
   and ($13::text is null or strpos(lower(concat_ws(' ', resource_id, actor_name, actor_email, operation)), lower($13)) > 0)`;

/** Refusals are rare among changes. Written out, the condition is that of the partial index on them. */
const matches = ({ outcomes }: AuditFilter): string =>
  outcomes?.every((outcome) => outcome === "refused") ? `${MATCHES} and outcome = 'refused'` : MATCHES;

const values = (
  accountId: Uuid,
  { from, to, scopes, resources, actions, actors, outcomes, searchTerm }: AuditFilter,
): unknown[] => [
  accountId,
  from ?? null,
  to ?? null,
  scopes?.map(({ org }) => org) ?? null,
  scopes?.map(({ project }) => project) ?? null,
  resources?.map(({ type }) => type) ?? null,
  resources?.map(({ id }) => id) ?? null,
  actions ?? null,
  actors?.map(({ kind }) => kind) ?? null,
  actors?.map(({ id }) => id) ?? null,
  actors?.map(({ name }) => name) ?? null,
  outcomes ?? null,
  searchTerm ?? null,
];

type Row = Omit<AuditEntry, "request"> & { readonly [K in keyof RequestFacts]: RequestFacts[K] | null };

/** Newest first, or by time in the given order. */
export async function listEntries(
  db: Store,
  accountId: Uuid,
  filter: AuditFilter,
  { limit, offset, order }: Window,
): Promise<AuditEntry[]> {
  const rows = await db.query<Row>(
    `select ${ENTRY} from audit_entries where ${matches(filter)} order by ${byTime(order)} limit $14 offset $15`,
    [...values(accountId, filter), limit, offset],
  );
  return rows.map(entryOf);
}

export async function findEntry(db: Store, accountId: Uuid, id: Uuid): Promise<AuditEntry | undefined> {
  const rows = await db.query<Row>(`select ${ENTRY} from audit_entries where account_id = $1 and id = $2`, [
    accountId,
    id,
  ]);
  return rows.map(entryOf)[0];
}

/** Sorts ids in the same direction, as the index does. */
function byTime(order: readonly SortOrder[] = []): string {
  const way = order[0]?.descending === false ? "asc" : "desc";
  return `at ${way}, id ${way}`;
}

const entryOf = ({ method, path, remoteAddress, correlationId, ...entry }: Row): AuditEntry => ({
  ...entry,
  request:
    method === null || path === null || remoteAddress === null || correlationId === null
      ? null
      : { method, path, remoteAddress, correlationId },
});

/** Entries of a time, after the entry `after`. */
export type EntryRange = {
  readonly accountId: Uuid;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly after: Pick<AuditEntry, "at" | "id"> | undefined;
};

/** Oldest first. */
export async function nextEntries(
  db: Store,
  { accountId, from, to, after }: EntryRange,
  limit: number,
): Promise<AuditEntry[]> {
  const rows = await db.query<Row>(
    `select ${ENTRY} from audit_entries
      where account_id = $1 and at >= $2 and at <= coalesce($3::bigint, 9223372036854775807) and (at, id) > ($4, $5)
      order by at, id limit $6`,
    [accountId, Math.max(from ?? 0, after?.at ?? 0), to ?? null, after?.at ?? -1, after?.id ?? NO_ID, limit],
  );
  return rows.map(entryOf);
}

const NO_ID = "00000000-0000-0000-0000-000000000000";

export async function countEntries(db: Store, accountId: Uuid, filter: AuditFilter): Promise<number> {
  const rows = await db.query<{ total: number }>(
    `select count(*) as total from audit_entries where ${matches(filter)}`,
    values(accountId, filter),
  );
  return rows[0]?.total ?? 0;
}
