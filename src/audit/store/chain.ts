/** Seals and heads. Transaction numbers stay texts: only the database compares them. */
import type { Uuid } from "../../core/ids.ts";
import type { Store, Tx } from "../../platform/db/db.ts";
import { BEGINNING, type Head, type Seal, type SealedFields } from "../chain/chain.ts";

/** All entries up to this one are sealed, in the order of transactions and, within them, of ids. */
export type Position = { readonly xid: string; readonly id: Uuid };

/** The position before every entry. */
export const FIRST_POSITION: Position = { xid: "0", id: "00000000-0000-0000-0000-000000000000" as Uuid };

/** `isAhead`: the position is in a future transaction, as after a restore into another cluster. */
export type LockedPosition = Position & { readonly isAhead: boolean };

/** Undefined while another sealer runs. */
export async function lockPosition(tx: Tx): Promise<LockedPosition | undefined> {
  const rows = await tx.query<LockedPosition>(
    `select xid::text, id, xid > pg_snapshot_xmax(pg_current_snapshot()) as "isAhead"
       from audit_sealed for update skip locked`,
  );
  return rows[0];
}

const FIELDS = `e.account_id as "accountId", e.id, e.at, e.actor_kind as "actorKind", e.actor_id as "actorId",
  e.actor_name as "actorName", e.actor_email as "actorEmail", e.operation, e.resource_type as "resourceType",
  e.resource_id as "resourceId", e.org_identifier as "orgIdentifier", e.project_identifier as "projectIdentifier",
  e.request_method as "method", e.request_path as "path", e.remote_address as "remoteAddress",
  e.correlation_id as "correlationId", e.difference::text as difference, e.outcome, e.code, e.status, e.permission,
  e.attempts`;

const NOT_SEALED = `not exists (select 1 from audit_seals s where s.account_id = e.account_id and s.entry_id = e.id)`;

/** Entries in one transaction of the sealer: some ten milliseconds. */
export const BATCH = 1_000;

type Next = SealedFields & { readonly xid: string };

/**
 * The entries after the position, up to the oldest transaction that has not ended. `isSealed` marks those that were
 * sealed before the database was restored into another cluster. The index on (xid, id) serves the query: it reads no
 * entry before the position, and looks up only the seals of the batch. The limit is part of the text, since a plan for
 * an unknown limit may read the whole table.
 */
export const nextEntries = (tx: Tx, { xid, id }: Position): Promise<(Next & { readonly isSealed: boolean })[]> =>
  tx.query(
    `select ${FIELDS}, e.xid::text, s.entry_id is not null as "isSealed"
       from (select * from audit_entries
              where (xid, id) > ($1::xid8, $2::uuid) and xid < pg_snapshot_xmin(pg_current_snapshot())
              order by xid, id limit ${BATCH}) e
       left join lateral (select entry_id from audit_seals
                           where account_id = e.account_id and entry_id = e.id limit 1) s on true
      order by e.xid, e.id`,
    [xid, id],
  );

/** Entries without a seal at any position. Reads the whole trail: used once, for a restored database. */
export const unsealedEntries = (tx: Tx): Promise<Next[]> =>
  tx.query(
    `select ${FIELDS}, e.xid::text from audit_entries e where ${NOT_SEALED} order by e.xid, e.id limit ${BATCH}`,
  );

/** The heads of these accounts' chains; accounts without a chain are missing. */
export async function lockHeads(tx: Tx, accounts: readonly Uuid[]): Promise<[Uuid, Head][]> {
  const rows = await tx.query<Head & { accountId: Uuid }>(
    `select account_id as "accountId", sequence, hash from audit_chains where account_id = any ($1)
      order by account_id for update`,
    [accounts],
  );
  return rows.map(({ accountId, sequence, hash }) => [accountId, { sequence, hash }]);
}

export const insertSeals = (tx: Tx, seals: readonly (Seal & { readonly accountId: Uuid })[]): Promise<unknown> =>
  tx.query(
    `insert into audit_seals (account_id, sequence, entry_id, content, hash)
     select * from unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::bytea[], $5::bytea[])`,
    [
      seals.map(({ accountId }) => accountId),
      seals.map(({ sequence }) => sequence),
      seals.map(({ entryId }) => entryId),
      seals.map(({ content }) => content),
      seals.map(({ hash }) => hash),
    ],
  );

export const saveHeads = (tx: Tx, heads: ReadonlyMap<Uuid, Head>): Promise<unknown> =>
  tx.query(
    `insert into audit_chains as c (account_id, sequence, hash, cut_hash)
     select h.account_id, h.sequence, h.hash, $4 from unnest($1::uuid[], $2::bigint[], $3::bytea[]) as h (account_id, sequence, hash)
         on conflict (account_id) do update set sequence = excluded.sequence, hash = excluded.hash`,
    [
      [...heads.keys()],
      [...heads.values()].map(({ sequence }) => sequence),
      [...heads.values()].map(({ hash }) => hash),
      BEGINNING.hash,
    ],
  );

export const savePosition = (tx: Tx, { xid, id }: Position): Promise<unknown> =>
  tx.query(`update audit_sealed set xid = $1::xid8, id = $2`, [xid, id]);

/** A stored chain: its head, and its beginning after the last removal. */
export type Chain = { readonly accountId: Uuid; readonly head: Head; readonly cut: Head };

export async function findChain(db: Store, accountId: Uuid): Promise<Chain | undefined> {
  const rows = await db.query<{ sequence: number; hash: Buffer; cutSequence: number; cutHash: Buffer }>(
    `select sequence, hash, cut_sequence as "cutSequence", cut_hash as "cutHash" from audit_chains where account_id = $1`,
    [accountId],
  );
  const [row] = rows;
  return (
    row && {
      accountId,
      head: { sequence: row.sequence, hash: row.hash },
      cut: { sequence: row.cutSequence, hash: row.cutHash },
    }
  );
}

/** A seal with its entry; `entry` is null if it was deleted. */
export type SealedEntry = { readonly seal: Seal; readonly entry: SealedFields | null };

/** A place in the chain: after the seal of this number. */
type SealPosition = { readonly accountId: Uuid; readonly after: number };

/** The seals after the position, in order. */
export async function nextSeals(db: Store, { accountId, after }: SealPosition, limit: number): Promise<SealedEntry[]> {
  const rows = await db.query<SealedFields & { sequence: number; entryId: Uuid; content: Buffer; hash: Buffer }>(
    `select s.sequence, s.entry_id as "entryId", s.content, s.hash, ${FIELDS}
       from audit_seals s left join audit_entries e on e.account_id = s.account_id and e.id = s.entry_id
      where s.account_id = $1 and s.sequence > $2 order by s.sequence limit $3`,
    [accountId, after, limit],
  );
  return rows.map(({ sequence, entryId, content, hash, ...entry }) => ({
    seal: { sequence, entryId, content, hash },
    entry: (entry.id as Uuid | null) === null ? null : entry,
  }));
}

export type Unsealed = { readonly id: Uuid; readonly at: number; readonly late: boolean };

/** The first entries without a seal; `late`: the sealer has passed their position. */
export const unsealedOf = (db: Store, accountId: Uuid, limit: number): Promise<Unsealed[]> =>
  db.query<Unsealed>(
    `select e.id, e.at,
            ((e.xid, e.id) <= (p.xid, p.id) and p.xid <= pg_snapshot_xmax(pg_current_snapshot())) as late
       from audit_entries e cross join audit_sealed p
      where e.account_id = $1 and ${NOT_SEALED} order by late desc, e.xid, e.id limit $2`,
    [accountId, limit],
  );

/**
 * The retention's record of a cut: its time, and the time before which it removed entries (both epoch milliseconds).
 */
export type RetentionRecord = { readonly at: number; readonly before: number };

export async function findRetentionRecord(db: Store, accountId: Uuid, cut: Head): Promise<RetentionRecord | undefined> {
  type Difference = { readonly changes: readonly { readonly field: string; readonly after: unknown }[] };
  const name = `${cut.sequence}:${cut.hash.toString("hex")}`;
  const rows = await db.query<{ at: number; difference: Difference }>(
    `select at, difference from audit_entries
      where account_id = $1 and operation = 'audit.sweep' and actor_kind = 'system' and strpos(difference::text, $2) > 0`,
    [accountId, name],
  );
  for (const { at, difference } of rows) {
    const after = new Map(difference.changes.map((change) => [change.field, change.after]));
    if (after.get("cut") === name) return { at, before: Number(after.get("before")) };
  }
  return undefined;
}

export async function lockChain(tx: Tx, accountId: Uuid): Promise<Chain | undefined> {
  await tx.query(`select 1 from audit_chains where account_id = $1 for update`, [accountId]);
  return findChain(tx, accountId);
}

/** The oldest seals of the chain with the times of their entries; null for a deleted entry. */
export const oldestSeals = (
  tx: Tx,
  { accountId, after }: SealPosition,
  limit: number,
): Promise<(Head & { readonly at: number | null })[]> =>
  tx.query(
    `select s.sequence, s.hash, e.at
       from audit_seals s left join audit_entries e on e.account_id = s.account_id and e.id = s.entry_id
      where s.account_id = $1 and s.sequence > $2 order by s.sequence limit $3`,
    [accountId, after, limit],
  );

/** Deletes seals and entries up to the cut. Nothing else deletes from the trail. */
export async function cutOff(
  tx: Tx,
  accountId: Uuid,
  { from, to }: { readonly from: Head; readonly to: Head },
): Promise<void> {
  await tx.query(`select set_config('railhead.audit_retention', 'on', true)`);
  await tx.query(
    `with gone as (delete from audit_seals where account_id = $1 and sequence > $2 and sequence <= $3 returning entry_id)
     delete from audit_entries e using gone where e.account_id = $1 and e.id = gone.entry_id`,
    [accountId, from.sequence, to.sequence],
  );
  await tx.query(`select set_config('railhead.audit_retention', '', true)`);
  await tx.query(`update audit_chains set cut_sequence = $2, cut_hash = $3 where account_id = $1`, [
    accountId,
    to.sequence,
    to.hash,
  ]);
}

/** Accounts that have a chain, in order. */
export async function chainedAccounts(db: Store): Promise<Uuid[]> {
  const rows = await db.query<{ id: Uuid }>(`select account_id as id from audit_chains order by account_id`);
  return rows.map(({ id }) => id);
}
