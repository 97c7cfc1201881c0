import { within, type Reach } from "../../access/index.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Window } from "../../core/page.ts";
import type { Store } from "../../platform/db/db.ts";
import { orderBy, statementPrefix } from "../../platform/db/order.ts";
import type { Project, ProjectChanges, ProjectKey } from "../project.ts";

const PROJECT = `id, org_identifier as "orgIdentifier", identifier, name, color, description, tags, version,
  created_at as "createdAt", updated_at as "updatedAt"`;

/** False when the identifier is taken. */
export async function insertProject(
  db: Store,
  accountId: Uuid,
  { project, createdBy }: { readonly project: Project; readonly createdBy: Uuid | null },
): Promise<boolean> {
  const rows = await db.query(
    `insert into projects (account_id, id, org_identifier, identifier, name, color, description, tags, version,
                           created_at, updated_at, created_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
     on conflict (account_id, org_identifier, identifier) do nothing
     returning id`,
    [
      accountId,
      project.id,
      project.orgIdentifier,
      project.identifier,
      project.name,
      project.color,
      project.description,
      JSON.stringify(project.tags),
      project.version,
      project.createdAt,
      project.updatedAt,
      createdBy,
    ],
  );
  return rows.length > 0;
}

export async function findProject(
  db: Store,
  accountId: Uuid,
  { orgIdentifier, identifier }: ProjectKey,
): Promise<Project | undefined> {
  const rows = await db.query<Project>(
    `select ${PROJECT} from projects where account_id = $1 and org_identifier = $2 and identifier = $3`,
    [accountId, orgIdentifier, identifier],
  );
  return rows[0];
}

export async function findProjectById(db: Store, accountId: Uuid, id: Uuid): Promise<Project | undefined> {
  const rows = await db.query<Project>(`select ${PROJECT} from projects where account_id = $1 and id = $2`, [
    accountId,
    id,
  ]);
  return rows[0];
}

type ProjectChange = {
  readonly id: Uuid;
  readonly changes: ProjectChanges;
  readonly version: number | undefined;
  readonly at: number;
};

/** Returns the changed project; undefined if it is missing or has another version. */
export async function updateProjectRow(
  db: Store,
  accountId: Uuid,
  { id, changes, version, at }: ProjectChange,
): Promise<Project | undefined> {
  const rows = await db.query<Project>(
    `update projects set name = coalesce($3, name), color = coalesce($4, color),
            description = coalesce($5, description), tags = coalesce($6, tags), version = version + 1, updated_at = $7
      where account_id = $1 and id = $2 and ($8::int is null or version = $8)
      returning ${PROJECT}`,
    [
      accountId,
      id,
      changes.name ?? null,
      changes.color ?? null,
      changes.description ?? null,
      changes.tags === undefined ? null : JSON.stringify(changes.tags),
      at,
      version ?? null,
    ],
  );
  return rows[0];
}

/** Locks the row until the end of the transaction, also against new resources in the project. */
export async function lockProjectForDeletion(db: Store, accountId: Uuid, id: Uuid): Promise<Project | undefined> {
  const rows = await db.query<Project>(`select ${PROJECT} from projects where account_id = $1 and id = $2 for update`, [
    accountId,
    id,
  ]);
  return rows[0];
}

/** Locks the row until the end of the transaction against other changes. New resources in it are possible. */
export async function lockProjectForChange(db: Store, accountId: Uuid, id: Uuid): Promise<Project | undefined> {
  const rows = await db.query<Project>(
    `select ${PROJECT} from projects where account_id = $1 and id = $2 for no key update`,
    [accountId, id],
  );
  return rows[0];
}

/** Returns false if it has another version than expected. */
export async function deleteProjectRow(
  db: Store,
  accountId: Uuid,
  { id, version }: { readonly id: Uuid; readonly version: number | undefined },
): Promise<boolean> {
  const rows = await db.query(
    `delete from projects where account_id = $1 and id = $2 and ($3::int is null or version = $3) returning id`,
    [accountId, id, version ?? null],
  );
  return rows.length > 0;
}

export type ProjectFilter = {
  readonly searchTerm: string;
  /** Undefined: of all organizations. */
  readonly orgIdentifiers: readonly string[] | undefined;
  readonly identifiers: readonly string[] | undefined;
  readonly reach: "all" | readonly Reach[];
};

// `strpos` instead of `like`, so that no character of the text is a wildcard.
const MATCHES = `account_id = $1 and (strpos(lower(name), lower($2)) > 0 or strpos(lower(identifier), lower($2)) > 0)
   and ($3::text[] is null or org_identifier = any($3)) and ($4::text[] is null or identifier = any($4))
   and ($5::jsonb is null or ${within("$5", { org: "org_identifier", project: "identifier", identifier: "identifier" })})`;
const filterValues = (accountId: Uuid, filter: ProjectFilter) => [
  accountId,
  filter.searchTerm,
  filter.orgIdentifiers ?? null,
  filter.identifiers ?? null,
  filter.reach === "all" ? null : JSON.stringify(filter.reach),
];

export async function selectProjects(
  db: Store,
  accountId: Uuid,
  { filter, window }: { readonly filter: ProjectFilter; readonly window: Window },
): Promise<Project[]> {
  const { limit, offset, order } = window;
  return db.query<Project>(
    `${statementPrefix(order)}select ${PROJECT} from projects where ${MATCHES}
      order by ${orderBy(order, "name")} limit $6 offset $7`,
    [...filterValues(accountId, filter), limit, offset],
  );
}

export async function countMatching(db: Store, accountId: Uuid, filter: ProjectFilter): Promise<number> {
  const rows = await db.query<{ total: number }>(
    `select count(*) as total from projects where ${MATCHES}`,
    filterValues(accountId, filter),
  );
  return rows[0]?.total ?? 0;
}

/** Returns the number of projects of an organization, and the identifiers of three. */
export async function firstProjects(
  db: Store,
  accountId: Uuid,
  orgIdentifier: string,
): Promise<{ readonly total: number; readonly first: readonly string[] }> {
  const rows = await db.query<{ total: number; identifier: string }>(
    `select identifier, count(*) over () as total from projects
      where account_id = $1 and org_identifier = $2 order by identifier limit 3`,
    [accountId, orgIdentifier],
  );
  return { total: rows[0]?.total ?? 0, first: rows.map(({ identifier }) => identifier) };
}

export async function countProjects(db: Store, accountId: Uuid, reach: "all" | readonly Reach[]): Promise<number> {
  const seenBy = within("$2", { org: "org_identifier", project: "identifier", identifier: "identifier" });
  const rows = await db.query<{ total: number }>(
    `select count(*) as total from projects where account_id = $1 and ($2::jsonb is null or ${seenBy})`,
    [accountId, reach === "all" ? null : JSON.stringify(reach)],
  );
  return rows[0]?.total ?? 0;
}
