/** Environments and services of several projects, for lists of projects. */
import { within, type Reach } from "../../access/index.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Store } from "../../platform/db/db.ts";
import type { EntityOfProject, Kind } from "../entity.ts";

const PLACE = { org: "e.org_identifier", project: "e.project_identifier", identifier: "e.identifier" } as const;

/** The condition for entities of project `p` that the reader may see. A reach of null means all. */
const ofProject = ({ table }: Kind): string =>
  `${table} e where e.account_id = p.account_id and e.org_identifier = p.org_identifier
     and e.project_identifier = p.identifier and ($3::jsonb is null or ${within("$3", PLACE)})`;

type ProjectsFilter = { readonly projects: readonly Uuid[]; readonly reach: "all" | readonly Reach[] };

const valuesOf = (accountId: Uuid, { projects, reach }: ProjectsFilter): unknown[] => [
  accountId,
  projects,
  reach === "all" ? null : JSON.stringify(reach),
];

type PagesOfProjects = {
  readonly kind: Kind;
  readonly filter: ProjectsFilter;
  readonly window: { readonly limit: number; readonly offset: number };
};

/** Returns a page of each project, by name. */
export async function selectOfProjects<T extends EntityOfProject>(
  db: Store,
  accountId: Uuid,
  { kind, filter, window }: PagesOfProjects,
): Promise<T[]> {
  const own = kind.own.map((column) => `, e.${column}`).join("");
  return db.query<T>(
    `select p.id as "projectId", page.* from projects p cross join lateral (
       select e.id, e.name, e.description, e.tags, e.created_at as "createdAt"${own}
         from ${ofProject(kind)} order by e.name, e.id limit $4 offset $5) page
      where p.account_id = $1 and p.id = any($2::uuid[]) order by p.id, page.name, page.id`,
    [...valuesOf(accountId, filter), window.limit, window.offset],
  );
}

/** Counts the entities of each project. Projects without entities are missing. */
export async function countOfProjects(
  db: Store,
  accountId: Uuid,
  { kind, filter }: { readonly kind: Kind; readonly filter: ProjectsFilter },
): Promise<ReadonlyMap<Uuid, number>> {
  const rows = await db.query<{ projectId: Uuid; total: number }>(
    `select p.id as "projectId", count(*) as total from projects p, lateral (select from ${ofProject(kind)}) found
      where p.account_id = $1 and p.id = any($2::uuid[]) group by p.id`,
    valuesOf(accountId, filter),
  );
  return new Map(rows.map(({ projectId, total }) => [projectId, total]));
}
