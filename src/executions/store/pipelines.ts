/** Pipelines, as starts of executions look them up. */
import { within, type Reach } from "../../access/index.ts";
import type { Uuid } from "../../core/ids.ts";
import type { InProject } from "../../pipelines/index.ts";
import type { Query } from "../../platform/db/db.ts";

/** Of the pipeline that has the identifier now. */
export async function findPipelineId(
  db: { readonly query: Query },
  accountId: Uuid,
  { orgIdentifier, projectIdentifier }: InProject,
  identifier: string,
): Promise<Uuid | undefined> {
  const rows = await db.query<{ id: Uuid }>(
    `select p.id from projects a join pipelines p on p.account_id = a.account_id and p.project_id = a.id
      where a.account_id = $1 and a.org_identifier = $2 and a.identifier = $3 and p.identifier = $4
        and p.deleted_at is null`,
    [accountId, orgIdentifier, projectIdentifier, identifier],
  );
  return rows[0]?.id;
}

/** Those of the pipelines that are not deleted. */
export async function findLivePipelines(
  db: { readonly query: Query },
  accountId: Uuid,
  ids: readonly Uuid[],
): Promise<ReadonlySet<Uuid>> {
  const rows = await db.query<{ id: Uuid }>(
    `select id from pipelines where account_id = $1 and id = any($2) and deleted_at is null`,
    [accountId, ids],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Pipelines of a project that a reader may see, deleted ones too. */
export async function findSeenPipelines(
  db: { readonly query: Query },
  accountId: Uuid,
  { projectId, places }: { readonly projectId: Uuid; readonly places: readonly Reach[] },
  limit: number,
): Promise<readonly Uuid[]> {
  const columns = { org: "a.org_identifier", project: "a.identifier", identifier: "p.identifier" };
  const rows = await db.query<{ id: Uuid }>(
    `select p.id from projects a join pipelines p on p.account_id = a.account_id and p.project_id = a.id
      where a.account_id = $1 and a.id = $2 and ${within("$3", columns)} limit $4`,
    [accountId, projectId, JSON.stringify(places), limit],
  );
  return rows.map(({ id }) => id);
}
