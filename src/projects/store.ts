import type { Uuid } from "../core/ids.ts";
import type { Query } from "../platform/db/db.ts";
import type { Application, Project } from "./project.ts";

type Store = { readonly query: Query };

const PROJECT = `id, org_identifier as "orgIdentifier", identifier, name, color, description, tags, version,
  created_at as "createdAt", updated_at as "updatedAt"`;

export async function organizationExists(db: Store, accountId: Uuid, identifier: string): Promise<boolean> {
  const rows = await db.query(`select 1 from organizations where account_id = $1 and identifier = $2`, [
    accountId,
    identifier,
  ]);
  return rows.length > 0;
}

export async function insertOrganization(
  db: Store,
  accountId: Uuid,
  org: { id: Uuid; identifier: string; name: string; at: number },
): Promise<void> {
  await db.query(
    `insert into organizations (account_id, id, identifier, name, description, tags, version, created_at, updated_at)
     values ($1, $2, $3, $4, '', '{}', 1, $5, $5)`,
    [accountId, org.id, org.identifier, org.name, org.at],
  );
}

/** False when the identifier is taken. */
export async function insertProject(db: Store, accountId: Uuid, project: Project): Promise<boolean> {
  const rows = await db.query(
    `insert into projects (account_id, id, org_identifier, identifier, name, color, description, tags, version, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
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
    ],
  );
  return rows.length > 0;
}

export async function findProject(
  db: Store,
  accountId: Uuid,
  orgIdentifier: string,
  identifier: string,
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

export async function listApplications(
  db: Store,
  accountId: Uuid,
  limit: number,
  offset: number,
): Promise<Application[]> {
  return db.query<Application>(
    `select id, name, description, created_at as "createdAt" from projects where account_id = $1
      order by name, id limit $2 offset $3`,
    [accountId, limit, offset],
  );
}

export async function countProjects(db: Store, accountId: Uuid): Promise<number> {
  const rows = await db.query<{ total: number }>(`select count(*) as total from projects where account_id = $1`, [
    accountId,
  ]);
  return rows[0]?.total ?? 0;
}
