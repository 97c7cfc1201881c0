import type { Uuid } from "../core/ids.ts";
import type { Query } from "../platform/db/db.ts";
import type { InProject, Pipeline, PipelineWithYaml, SavedPipeline } from "./pipeline.ts";

type Store = { readonly query: Query };

const PIPELINE = `p.id, p.project_id as "projectId", p.identifier, p.name, p.description, p.tags, p.version,
  p.created_by as "createdBy", p.created_at as "createdAt", p.updated_at as "updatedAt"`;

/** False when the identifier is taken in the project. */
export async function insertPipeline(db: Store, accountId: Uuid, pipeline: PipelineWithYaml): Promise<boolean> {
  const rows = await db.query(
    `insert into pipelines (account_id, id, project_id, identifier, name, description, tags, version, created_by, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
     on conflict (account_id, project_id, identifier) do nothing
     returning id`,
    [
      accountId,
      pipeline.id,
      pipeline.projectId,
      pipeline.identifier,
      pipeline.name,
      pipeline.description,
      JSON.stringify(pipeline.tags),
      pipeline.version,
      pipeline.createdBy,
      pipeline.createdAt,
      pipeline.updatedAt,
    ],
  );
  if (rows.length === 0) return false;
  await db.query(
    `insert into pipeline_versions (account_id, pipeline_id, version, yaml, created_by, created_at) values ($1, $2, $3, $4, $5, $6)`,
    [accountId, pipeline.id, pipeline.version, pipeline.yaml, pipeline.createdBy, pipeline.updatedAt],
  );
  return true;
}

/** The newest version, by the identifiers of its whole path. */
export async function findPipeline(
  db: Store,
  accountId: Uuid,
  scope: InProject,
  identifier: string,
): Promise<SavedPipeline | undefined> {
  const rows = await db.query<SavedPipeline>(
    `select ${PIPELINE}, v.yaml, a.name as "projectName"
       from pipelines p
       join projects a on a.account_id = p.account_id and a.id = p.project_id
       join pipeline_versions v on v.account_id = p.account_id and v.pipeline_id = p.id and v.version = p.version
      where p.account_id = $1 and a.org_identifier = $2 and a.identifier = $3 and p.identifier = $4`,
    [accountId, scope.orgIdentifier, scope.projectIdentifier, identifier],
  );
  return rows[0];
}

export async function findPipelineById(db: Store, accountId: Uuid, id: Uuid): Promise<Pipeline | undefined> {
  const rows = await db.query<Pipeline>(`select ${PIPELINE} from pipelines p where p.account_id = $1 and p.id = $2`, [
    accountId,
    id,
  ]);
  return rows[0];
}

export async function listPipelines(
  db: Store,
  accountId: Uuid,
  projectId: Uuid,
  limit: number,
  offset: number,
): Promise<Pipeline[]> {
  return db.query<Pipeline>(
    `select ${PIPELINE} from pipelines p where p.account_id = $1 and p.project_id = $2 order by p.name, p.id limit $3 offset $4`,
    [accountId, projectId, limit, offset],
  );
}

export async function countPipelines(db: Store, accountId: Uuid, projectId: Uuid): Promise<number> {
  const rows = await db.query<{ total: number }>(
    `select count(*) as total from pipelines where account_id = $1 and project_id = $2`,
    [accountId, projectId],
  );
  return rows[0]?.total ?? 0;
}
