import type { RemovedReference } from "../../platform/removed-reference.ts";
import { summarizeRemoval } from "../../platform/db/removed-rows.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Query } from "../../platform/db/db.ts";
import { readAuthor, type Author, type AuthorColumns } from "../../identity/index.ts";
import type { InProject, PipelineWithYaml, SavedPipeline, Shown } from "../pipeline.ts";

type Store = { readonly query: Query };

const PIPELINE = `p.id, p.project_id as "projectId", p.identifier, p.name, p.description, p.tags, v.version,
  p.created_by as "createdBy", p.created_at as "createdAt", p.updated_at as "updatedAt"`;

type NewVersion = PipelineWithYaml & Shown & { readonly author: Author };

/** False when the identifier is taken in the project. */
export async function insertPipeline(db: Store, accountId: Uuid, pipeline: NewVersion): Promise<boolean> {
  const rows = await db.query(
    `insert into pipelines (account_id, id, project_id, identifier, name, description, tags, version, created_by, created_at, updated_at, stage_names)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
     on conflict (account_id, project_id, identifier) where deleted_at is null do nothing
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
      pipeline.stageNames,
    ],
  );
  if (rows.length === 0) return false;
  await insertVersion(db, accountId, pipeline);
  return true;
}

type Version = Pick<NewVersion, "id" | "version" | "yaml" | "variables" | "createdBy" | "updatedAt" | "author">;

const insertVersion = (db: Store, accountId: Uuid, saved: Version): Promise<unknown> =>
  db.query(
    `insert into pipeline_versions (account_id, pipeline_id, version, yaml, created_by, created_at, author_kind, author_id, variables)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      accountId,
      saved.id,
      saved.version,
      saved.yaml,
      saved.createdBy,
      saved.updatedAt,
      saved.author.kind,
      saved.author.id,
      saved.variables,
    ],
  );

export type Replacement = Pick<
  NewVersion,
  "name" | "description" | "tags" | "yaml" | "stageNames" | "variables" | "updatedAt" | "author"
> & {
  /** Who saves this version. */
  readonly savedBy: Uuid | null;
};

export type PipelineKey = { readonly projectId: Uuid; readonly identifier: string };

/** Nobody else changes it until the transaction ends. A statement of its own, after which its newest version is read. */
export const holdPipeline = (db: Store, accountId: Uuid, { projectId, identifier }: PipelineKey): Promise<unknown> =>
  db.query(
    `select 1 from pipelines where account_id = $1 and project_id = $2 and identifier = $3 and deleted_at is null
        for no key update`,
    [accountId, projectId, identifier],
  );

/** Saves the next version and answers its number; undefined when there is no such pipeline, or not at `version`. */
export async function replacePipeline(
  db: Store,
  accountId: Uuid,
  key: PipelineKey,
  to: Replacement,
  version: number | undefined,
): Promise<{ readonly id: Uuid; readonly version: number } | undefined> {
  const rows = await db.query<{ id: Uuid; version: number }>(
    `update pipelines
        set name = $4, description = $5, tags = $6, stage_names = $7, updated_at = $8, version = version + 1
      where account_id = $1 and project_id = $2 and identifier = $3 and deleted_at is null
        and ($9::int is null or version = $9)
      returning id, version`,
    [
      accountId,
      key.projectId,
      key.identifier,
      to.name,
      to.description,
      JSON.stringify(to.tags),
      to.stageNames,
      to.updatedAt,
      version ?? null,
    ],
  );
  const [saved] = rows;
  if (!saved) return undefined;
  const { yaml, variables, savedBy: createdBy, updatedAt, author } = to;
  await insertVersion(db, accountId, { ...saved, yaml, variables, createdBy, updatedAt, author });
  return saved;
}

/** Its id; undefined when there is no such pipeline, or not at `version`. Its executions stay, and so does its row. */
export async function markDeleted(
  db: Store,
  accountId: Uuid,
  key: PipelineKey,
  at: number,
  version: number | undefined,
): Promise<Uuid | undefined> {
  const rows = await db.query<{ id: Uuid }>(
    `update pipelines set deleted_at = $4
      where account_id = $1 and project_id = $2 and identifier = $3 and deleted_at is null
        and ($5::int is null or version = $5)
      returning id`,
    [accountId, key.projectId, key.identifier, at, version ?? null],
  );
  return rows[0]?.id;
}

/** The newest version, or another one, by the identifiers of its whole path. */
export async function findPipeline(
  db: Store,
  accountId: Uuid,
  scope: InProject,
  identifier: string,
  version?: number,
): Promise<SavedPipeline | undefined> {
  const rows = await db.query<Omit<SavedPipeline, "author"> & AuthorColumns>(
    `select ${PIPELINE}, v.yaml, v.author_kind as "authorKind", v.author_id as "authorId", a.name as "projectName"
       from pipelines p
       join projects a on a.account_id = p.account_id and a.id = p.project_id
       join pipeline_versions v
         on v.account_id = p.account_id and v.pipeline_id = p.id and v.version = coalesce($5::int, p.version)
      where p.account_id = $1 and a.org_identifier = $2 and a.identifier = $3 and p.identifier = $4
        and p.deleted_at is null`,
    [accountId, scope.orgIdentifier, scope.projectIdentifier, identifier, version ?? null],
  );
  return rows.map(({ authorKind, authorId, ...row }) => ({ ...row, author: readAuthor({ authorKind, authorId }) }))[0];
}

/** All pipelines of a project, with their versions. */
export async function deletePipelinesOf(
  db: Store,
  accountId: Uuid,
  projectId: Uuid,
): Promise<readonly RemovedReference[]> {
  await db.query(
    `delete from pipeline_versions v using pipelines p
      where p.account_id = $1 and p.project_id = $2 and v.account_id = p.account_id and v.pipeline_id = p.id`,
    [accountId, projectId],
  );
  const pipelines = "delete from pipelines where account_id = $1 and project_id = $2 returning identifier as what";
  return summarizeRemoval(db, { type: "PIPELINE", text: pipelines, values: [accountId, projectId] });
}
