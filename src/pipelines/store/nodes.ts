/** Pipelines as GraphQL shows them: over all projects of an account, with who made them. */
import { within } from "../../access/index.ts";
import type { Uuid } from "../../core/ids.ts";
import { CREATOR, creatorJoins, creatorOf, type CreatorRow, type User } from "../../identity/index.ts";
import type { Query } from "../../platform/db/db.ts";
import { UNPREPARED } from "../../platform/db/pool/statements.ts";
import type { InProject, Pipeline } from "../pipeline.ts";

type Store = { readonly query: Query };

export type GraphPipeline = Omit<Pipeline, "createdBy"> & { readonly createdBy: User | null };

type Row = Omit<GraphPipeline, "createdBy"> & CreatorRow;

const nodeOf = (row: Row): GraphPipeline => ({
  id: row.id,
  projectId: row.projectId,
  identifier: row.identifier,
  name: row.name,
  description: row.description,
  tags: row.tags,
  version: row.version,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
  createdBy: creatorOf(row),
});

const NODE = `p.id, p.project_id as "projectId", p.identifier, p.name, p.description, p.tags, p.version,
  p.created_at as "createdAt", p.updated_at as "updatedAt", ${CREATOR}`;
const BARE = `${NODE} from pipelines p ${creatorJoins("p")}`;

const PLACED = BARE.replace(
  " from pipelines p",
  `, a.org_identifier as "orgIdentifier", a.identifier as "projectIdentifier"
   from pipelines p join projects a on a.account_id = p.account_id and a.id = p.project_id`,
);

/** With the project that it lies in: who may see it depends on where it is. */
export type Placed = GraphPipeline & InProject;
const placedOf = (row: Row & InProject): Placed => ({
  ...nodeOf(row),
  orgIdentifier: row.orgIdentifier,
  projectIdentifier: row.projectIdentifier,
});

const CONDITIONS = {
  projectIn: "p.project_id = any (?::uuid[])",
  projectNotIn: "p.project_id <> all (?::uuid[])",
  projectLike:
    "exists (select from projects a, unnest(?::text[]) as part where a.account_id = p.account_id and a.id = p.project_id and strpos(lower(a.name), lower(part)) > 0)",
  pipelineIn: "p.id = any (?::uuid[])",
  pipelineNotIn: "p.id <> all (?::uuid[])",
  pipelineLike: "exists (select from unnest(?::text[]) as part where strpos(lower(p.name), lower(part)) > 0)",
  /** What the reader may see (`within`): the value is JSON. */
  seenBy: `exists (select from projects sa where sa.account_id = p.account_id and sa.id = p.project_id
    and ${within("?", { org: "sa.org_identifier", project: "sa.identifier", identifier: "p.identifier" })})`,
  tagNamed: "p.tags ? ?::text",
  tagIs: "p.tags @> ?::jsonb",
} as const;

export type NodeCondition = { readonly is: keyof typeof CONDITIONS; readonly value: unknown };

/** The values begin with the account. A question mark before `::` stands for the next value; the operator `?` has none after it. */
function whereOf(accountId: Uuid, conditions: readonly NodeCondition[]): { text: string; values: unknown[] } {
  const values: unknown[] = [accountId];
  const texts = conditions.map(({ is, value }) => CONDITIONS[is].replace(/\?(?=::)/, `$${values.push(value)}`));
  return { text: ["p.account_id = $1 and p.deleted_at is null", ...texts].join(" and "), values };
}

// Filters have too many combinations to keep them prepared.
const prepared = (conditions: readonly NodeCondition[]): string => (conditions.length === 0 ? "" : UNPREPARED);

export async function listNodes(
  db: Store,
  accountId: Uuid,
  conditions: readonly NodeCondition[],
  page: { readonly limit: number; readonly offset: number },
): Promise<GraphPipeline[]> {
  const { text, values } = whereOf(accountId, conditions);
  const window = `limit $${values.push(page.limit)} offset $${values.push(page.offset)}`;
  const rows = await db.query<Row>(
    `${prepared(conditions)}select ${BARE} where ${text} order by p.name, p.id ${window}`,
    values,
  );
  return rows.map(nodeOf);
}

/** A page of each project, by name, in one statement. The projects differ from each other. */
export async function listNodesOfProjects(
  db: Store,
  accountId: Uuid,
  projects: readonly Uuid[],
  conditions: readonly NodeCondition[],
  page: { readonly limit: number; readonly offset: number },
): Promise<GraphPipeline[]> {
  const { text, values } = whereOf(accountId, conditions);
  const parents = `unnest($${values.push(projects)}::uuid[]) as parent (id)`;
  const window = `limit $${values.push(page.limit)} offset $${values.push(page.offset)}`;
  const rows = await db.query<Row>(
    `select page.* from ${parents} cross join lateral (
       select ${BARE} where ${text} and p.project_id = parent.id order by p.name, p.id ${window}) page
      order by page."projectId", page.name, page.id`,
    values,
  );
  return rows.map(nodeOf);
}

/** The number of pipelines of each project. Projects without pipelines are missing. */
export async function countNodesOfProjects(
  db: Store,
  accountId: Uuid,
  projects: readonly Uuid[],
  conditions: readonly NodeCondition[],
): Promise<ReadonlyMap<Uuid, number>> {
  const { text, values } = whereOf(accountId, conditions);
  const rows = await db.query<{ projectId: Uuid; total: number }>(
    `select p.project_id as "projectId", count(*) as total from pipelines p
      where ${text} and p.project_id = any ($${values.push(projects)}::uuid[]) group by p.project_id`,
    values,
  );
  return new Map(rows.map(({ projectId, total }) => [projectId, total]));
}

export async function countNodes(db: Store, accountId: Uuid, conditions: readonly NodeCondition[]): Promise<number> {
  const { text, values } = whereOf(accountId, conditions);
  const rows = await db.query<{ total: number }>(
    `${prepared(conditions)}select count(*) as total from pipelines p where ${text}`,
    values,
  );
  return rows[0]?.total ?? 0;
}

/** The nodes with these ids, in any order. Includes deleted ones, since their executions name them. */
export async function findNodes(
  db: Store,
  accountId: Uuid,
  ids: readonly Uuid[],
): Promise<(Placed & { readonly deleted: boolean })[]> {
  const rows = await db.query<Row & InProject & { deleted: boolean }>(
    `select p.deleted_at is not null as deleted, ${PLACED} where p.account_id = $1 and p.id = any ($2::uuid[])`,
    [accountId, ids],
  );
  return rows.map((row) => ({ ...placedOf(row), deleted: row.deleted }));
}

/** Names are not unique in a project: the oldest one comes first. */
export async function findNodeByName(
  db: Store,
  accountId: Uuid,
  projectId: Uuid,
  name: string,
): Promise<Placed | undefined> {
  const rows = await db.query<Row & InProject>(
    `select ${PLACED}
      where p.account_id = $1 and p.project_id = $2 and p.name = $3 and p.deleted_at is null order by p.id limit 1`,
    [accountId, projectId, name],
  );
  return rows.map(placedOf)[0];
}
