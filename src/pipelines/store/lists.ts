/** Pipelines of a project as its lists show them, and the versions of one. */
import type { Uuid } from "../../core/ids.ts";
import type { Query } from "../../platform/db/db.ts";
import type { PipelineSummary, PipelineVersion } from "../pipeline.ts";

type Store = { readonly query: Query };

/** Each holds only when it is given; all of them have to. */
export type SummaryFilter = {
  /** A part of the name or of the identifier, in any case. */
  readonly searchTerm?: string | undefined;
  readonly identifiers?: readonly string[] | undefined;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  /** Each must be there; without a value, any value will do. */
  readonly tags?: readonly { readonly key: string; readonly value: string | null }[] | undefined;
};

/** Orders, each total; the words are those of the interface. */
const ORDERS = {
  "name,ASC": "p.name, p.id",
  "name,DESC": "p.name desc, p.id desc",
  "identifier,ASC": "p.identifier",
  "identifier,DESC": "p.identifier desc",
  "createdAt,ASC": "p.created_at, p.id",
  "createdAt,DESC": "p.created_at desc, p.id desc",
  "lastUpdatedAt,ASC": "p.updated_at, p.id",
  "lastUpdatedAt,DESC": "p.updated_at desc, p.id desc",
} as const;

export type SummaryOrder = keyof typeof ORDERS;
export const SUMMARY_ORDERS = Object.keys(ORDERS) as [SummaryOrder, ...SummaryOrder[]];

const WHERE = `p.account_id = $1 and p.project_id = $2 and p.deleted_at is null
  and ($3::text is null or strpos(lower(p.name), lower($3)) > 0 or strpos(lower(p.identifier), lower($3)) > 0)
  and ($4::text[] is null or p.identifier = any ($4))
  and ($5::text is null or strpos(lower(p.name), lower($5)) > 0)
  and ($6::text is null or strpos(lower(p.description), lower($6)) > 0)
  and ($7::jsonb is null or not exists (
    select 1 from jsonb_to_recordset($7) as wanted (key text, value text)
     where not p.tags ? wanted.key or p.tags ->> wanted.key is distinct from coalesce(wanted.value, p.tags ->> wanted.key)))`;

const valuesOf = (accountId: Uuid, projectId: Uuid, filter: SummaryFilter): unknown[] => [
  accountId,
  projectId,
  filter.searchTerm ?? null,
  filter.identifiers ?? null,
  filter.name ?? null,
  filter.description ?? null,
  filter.tags ? JSON.stringify(filter.tags) : null,
];

/** A row that an older server saved has no names of stages. */
export type SummaryRow = Omit<PipelineSummary, "stageNames"> & {
  readonly stageNames: readonly string[] | null;
};

const SUMMARY = `p.id, p.project_id as "projectId", p.identifier, p.name, p.description, p.tags, p.version,
  p.created_by as "createdBy", p.created_at as "createdAt", p.updated_at as "updatedAt", p.stage_names as "stageNames"`;

export const listSummaries = (
  db: Store,
  accountId: Uuid,
  projectId: Uuid,
  filter: SummaryFilter,
  page: { readonly limit: number; readonly offset: number; readonly order: SummaryOrder },
): Promise<SummaryRow[]> =>
  db.query<SummaryRow>(
    `select ${SUMMARY} from pipelines p where ${WHERE} order by ${ORDERS[page.order]} limit $8 offset $9`,
    [...valuesOf(accountId, projectId, filter), page.limit, page.offset],
  );

export async function countSummaries(
  db: Store,
  accountId: Uuid,
  projectId: Uuid,
  filter: SummaryFilter,
): Promise<number> {
  const rows = await db.query<{ total: number }>(
    `select count(*) as total from pipelines p where ${WHERE}`,
    valuesOf(accountId, projectId, filter),
  );
  return rows[0]?.total ?? 0;
}

/** Newest first. */
export const listVersions = (
  db: Store,
  accountId: Uuid,
  pipelineId: Uuid,
  page: { readonly limit: number; readonly offset: number },
): Promise<PipelineVersion[]> =>
  db.query<PipelineVersion>(
    `select version, created_by as "createdBy", created_at as "createdAt" from pipeline_versions
      where account_id = $1 and pipeline_id = $2 order by version desc limit $3 offset $4`,
    [accountId, pipelineId, page.limit, page.offset],
  );

export async function findVersion(
  db: Store,
  accountId: Uuid,
  pipelineId: Uuid,
  version: number,
): Promise<(PipelineVersion & { readonly yaml: string }) | undefined> {
  const rows = await db.query<PipelineVersion & { yaml: string }>(
    `select version, created_by as "createdBy", created_at as "createdAt", yaml from pipeline_versions
      where account_id = $1 and pipeline_id = $2 and version = $3`,
    [accountId, pipelineId, version],
  );
  return rows[0];
}
