/**
 * What event streams of projects read. A change has the number of its transaction, and a position is a snapshot of the
 * database: changes of transactions that it does not see are found whatever the order of their commits.
 */
import type { Uuid } from "../../core/ids.ts";
import type { Store } from "../../platform/db/db.ts";

export type ProjectKey = { readonly accountId: Uuid; readonly projectId: Uuid };

/** `pg_snapshot` as text. */
export type Snapshot = string;

export type FoundChanges = {
  /** The statement's own snapshot. */
  readonly snapshot: Snapshot;
  /** The oldest transaction that had not ended. */
  readonly horizon: string;
  readonly isProject: boolean;
  /** False for a snapshot of the future: the database was restored. */
  readonly isPast: boolean;
  /** The oldest first. */
  readonly ids: readonly Uuid[];
};

const NOW = "pg_current_snapshot()";

/** Of rows `e` of a project: what the snapshot does not see. Rows that were restored may have numbers of the future. */
const unseenBy = (snapshot: string): string =>
  `e.changed_xid >= pg_snapshot_xmin(${snapshot}) and e.changed_xid < pg_snapshot_xmax(${NOW})
   and not pg_visible_in_snapshot(e.changed_xid, ${snapshot})`;

/** A snapshot that sees what had ended before a transaction. */
export const snapshotBefore = (xid: string): Snapshot => `${xid}:${xid}:`;

/** The executions that have changed since a snapshot, at most `limit`; none without a snapshot. */
export async function findChanges(
  db: Store,
  { accountId, projectId }: ProjectKey,
  { since, limit }: { readonly since: Snapshot | undefined; readonly limit: number },
): Promise<FoundChanges> {
  const rows = await db.query<FoundChanges>(
    `select ${NOW}::text as snapshot, pg_snapshot_xmin(${NOW})::text as horizon,
            exists (select from projects p where p.account_id = $1 and p.id = $2) as "isProject",
            coalesce(pg_snapshot_xmax($3::pg_snapshot) <= pg_snapshot_xmax(${NOW}), true) as "isPast",
            array(select e.id::text from executions e
                   where e.account_id = $1 and e.project_id = $2 and ${unseenBy("$3::pg_snapshot")}
                   order by e.changed_xid limit $4) as ids`,
    [accountId, projectId, since ?? null, limit],
  );
  const [found] = rows;
  if (!found) throw new Error("the statement has no row");
  return found;
}

/** Those of the projects in which something has changed since the snapshot, or that do not exist any more. */
export async function findChangedProjects(
  db: Store,
  asked: readonly (ProjectKey & { readonly snapshot: Snapshot })[],
): Promise<readonly Uuid[]> {
  const rows = await db.query<{ id: Uuid }>(
    `select asked.id from unnest($1::uuid[], $2::uuid[], $3::text[]::pg_snapshot[]) as asked (account_id, id, snapshot)
      where exists (select from executions e where e.account_id = asked.account_id and e.project_id = asked.id
                       and ${unseenBy("asked.snapshot")})
         or pg_snapshot_xmax(asked.snapshot) > pg_snapshot_xmax(${NOW})
         or not exists (select from projects p where p.account_id = asked.account_id and p.id = asked.id)`,
    [
      asked.map(({ accountId }) => accountId),
      asked.map(({ projectId }) => projectId),
      asked.map((one) => one.snapshot),
    ],
  );
  return rows.map(({ id }) => id);
}
