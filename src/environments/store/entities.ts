/** Statements for the tables of environments and services, which have the same shape. `Kind` selects the table. */
import type { RemovedReference, DeletedScope } from "../../platform/removed-reference.ts";
import { deleteFromScope } from "../../platform/db/removed-rows.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Place, Referred } from "../../core/reference.ts";
import type { Listed } from "../../access/index.ts";
import type { Window } from "../../core/page.ts";
import type { Store } from "../../platform/db/db.ts";
import { orderBy, statementPrefix } from "../../platform/db/order.ts";
import type { Entity, Kind } from "../entity.ts";

const COMMON = ["identifier", "name", "description", "tags", "yaml", "version"];

const columnsOf = ({ own }: Kind): string =>
  [
    "id",
    'org_identifier as "orgIdentifier"',
    'project_identifier as "projectIdentifier"',
    ...COMMON,
    ...own,
    'created_at as "createdAt"',
    'updated_at as "updatedAt"',
  ].join(", ");

type Values = Readonly<Record<string, unknown>>;

const INSERTED = ["id", "org_identifier", "project_identifier", ...COMMON, "created_at", "updated_at"];

function insertion(kind: Kind, accountId: Uuid, entity: Entity): { readonly text: string; readonly values: unknown[] } {
  const own = kind.own.map((column) => (entity as unknown as Values)[column]);
  const values = [
    accountId,
    entity.id,
    entity.orgIdentifier,
    entity.projectIdentifier,
    entity.identifier,
    entity.name,
    entity.description,
    JSON.stringify(entity.tags),
    entity.yaml,
    entity.version,
    entity.createdAt,
    entity.updatedAt,
    ...own,
  ];
  const columns = ["account_id", ...INSERTED, ...kind.own].join(", ");
  return {
    text: `insert into ${kind.table} as e (${columns}) values (${values.map((_, at) => `$${at + 1}`).join(", ")})
           on conflict (account_id, org_identifier, project_identifier, identifier)`,
    values,
  };
}

/** Returns false if the identifier is taken in the scope. */
export async function insertEntity(
  db: Store,
  accountId: Uuid,
  { kind, entity }: { readonly kind: Kind; readonly entity: Entity },
): Promise<boolean> {
  const { text, values } = insertion(kind, accountId, entity);
  const rows = await db.query(`${text} do nothing returning id`, values);
  return rows.length > 0;
}

const REPLACED = ["name", "description", "tags", "yaml", "updated_at"];

/** Inserts or replaces the entity. A replaced entity keeps its id and `createdAt`. A new one has version 1. */
export async function upsertEntityRow<T extends Entity>(
  db: Store,
  accountId: Uuid,
  { kind, entity }: { readonly kind: Kind; readonly entity: T },
): Promise<T> {
  const { text, values } = insertion(kind, accountId, entity);
  const sets = [...REPLACED, ...kind.own].map((column) => `${column} = excluded.${column}`).join(", ");
  const rows = await db.query<T>(
    `${text} do update set ${sets}, version = e.version + 1 returning ${columnsOf(kind)}`,
    values,
  );
  return rows[0] as T;
}

/** Returns undefined if the entity is missing or has another version. */
export async function updateEntityRow<T extends Entity>(
  db: Store,
  accountId: Uuid,
  { kind, entity, version }: { readonly kind: Kind; readonly entity: T; readonly version: number | undefined },
): Promise<T | undefined> {
  const own = kind.own.map((column) => (entity as unknown as Values)[column]);
  const rows = await db.query<T>(
    `update ${kind.table}
        set name = $5, description = $6, tags = $7, yaml = $8, updated_at = $9, version = version + 1
            ${kind.own.map((column, at) => `, ${column} = $${at + 11}`).join("")}
      where account_id = $1 and org_identifier is not distinct from $2 and project_identifier is not distinct from $3
        and identifier = $4 and ($10::int is null or version = $10)
      returning ${columnsOf(kind)}`,
    [
      accountId,
      entity.orgIdentifier,
      entity.projectIdentifier,
      entity.identifier,
      entity.name,
      entity.description,
      JSON.stringify(entity.tags),
      entity.yaml,
      entity.updatedAt,
      version ?? null,
      ...own,
    ],
  );
  return rows[0];
}

/** Returns false if the entity is missing or has another version. */
export async function deleteEntityRow(
  db: Store,
  accountId: Uuid,
  { kind, key, version }: { readonly kind: Kind; readonly key: Referred; readonly version: number | undefined },
): Promise<boolean> {
  const rows = await db.query(
    `delete from ${kind.table}
      where account_id = $1 and org_identifier is not distinct from $2 and project_identifier is not distinct from $3
        and identifier = $4 and ($5::int is null or version = $5)
      returning id`,
    [accountId, key.orgIdentifier, key.projectIdentifier, key.identifier, version ?? null],
  );
  return rows.length > 0;
}

/** Returns the entity with the id of its project. */
export async function findEntityById(
  db: Store,
  accountId: Uuid,
  { kind, id }: { readonly kind: Kind; readonly id: Uuid },
): Promise<{ readonly entity: Entity; readonly projectId: Uuid | null } | undefined> {
  const rows = await db.query<Entity & { readonly projectId: Uuid | null }>(
    `select ${columnsOf(kind)}, (select p.id from projects p where p.account_id = e.account_id
             and p.org_identifier = e.org_identifier and p.identifier = e.project_identifier) as "projectId"
       from ${kind.table} e where e.account_id = $1 and e.id = $2`,
    [accountId, id],
  );
  return rows.map(({ projectId, ...entity }) => ({ entity, projectId }))[0];
}

type EntityLookup = { readonly kind: Kind; readonly key: Referred; readonly lock?: "for no key update" };

/** Finds an entity. `lock` excludes other changes until the end of the transaction. */
export async function findEntity<T extends Entity>(
  db: Store,
  accountId: Uuid,
  { kind, key, lock }: EntityLookup,
): Promise<T | undefined> {
  const rows = await db.query<T>(
    `select ${columnsOf(kind)} from ${kind.table}
      where account_id = $1 and identifier = $2
        and org_identifier is not distinct from $3 and project_identifier is not distinct from $4
      ${lock ?? ""}`,
    [accountId, key.identifier, key.orgIdentifier, key.projectIdentifier],
  );
  return rows[0];
}

export type EntityFilter = Place & { readonly searchTerm?: string | undefined; readonly shown: Listed };

// `is null` and `=` instead of `is not distinct from`, which uses no index.
const inScope = ({ orgIdentifier, projectIdentifier }: Place): string =>
  `account_id = $1 and ${orgIdentifier === null ? "org_identifier is null and $2::text is null" : "org_identifier = $2"}
   and ${projectIdentifier === null ? "project_identifier is null and $3::text is null" : "project_identifier = $3"}
   and ($4::text is null or strpos(lower(name), lower($4)) > 0 or strpos(lower(identifier), lower($4)) > 0)
   and ($5::text[] is null or identifier = any ($5))`;

const filterValues = (accountId: Uuid, filter: EntityFilter): unknown[] => [
  accountId,
  filter.orgIdentifier,
  filter.projectIdentifier,
  filter.searchTerm ?? null,
  filter.shown,
];

export async function selectEntities<T extends Entity>(
  db: Store,
  accountId: Uuid,
  { kind, filter, window }: { readonly kind: Kind; readonly filter: EntityFilter; readonly window: Window },
): Promise<T[]> {
  const { limit, offset, order } = window;
  return db.query<T>(
    `${statementPrefix(order)}select ${columnsOf(kind)} from ${kind.table} where ${inScope(filter)}
      order by ${orderBy(order, "identifier")} limit $6 offset $7`,
    [...filterValues(accountId, filter), limit, offset],
  );
}

export async function countEntities(
  db: Store,
  accountId: Uuid,
  { kind, filter }: { readonly kind: Kind; readonly filter: EntityFilter },
): Promise<number> {
  const rows = await db.query<{ total: number }>(
    `select count(*) as total from ${kind.table} where ${inScope(filter)}`,
    filterValues(accountId, filter),
  );
  return rows[0]?.total ?? 0;
}

export const deleteEntitiesOf = async (db: Store, scope: DeletedScope): Promise<readonly RemovedReference[]> => [
  ...(await deleteFromScope(db, scope, { type: "ENVIRONMENT", table: "environments" })),
  ...(await deleteFromScope(db, scope, { type: "SERVICE", table: "services" })),
];

export type EnvironmentPlace = {
  readonly id: Uuid;
  readonly orgIdentifier: string | null;
  readonly projectIdentifier: string | null;
  readonly identifier: string;
  /** The project of the environment; null if it belongs to an organization or to the account. */
  readonly projectId: Uuid | null;
  readonly production: boolean;
};

/** Returns place and kind of the environments. */
export async function environmentPlaces(db: Store, accountId: Uuid, ids: readonly Uuid[]): Promise<EnvironmentPlace[]> {
  return db.query<EnvironmentPlace>(
    `select e.id, e.org_identifier as "orgIdentifier", e.project_identifier as "projectIdentifier",
            e.identifier, p.id as "projectId", e.type = 'Production' as production
       from environments e left join projects p on p.account_id = e.account_id
        and p.org_identifier = e.org_identifier and p.identifier = e.project_identifier
      where e.account_id = $1 and e.id = any($2)`,
    [accountId, ids],
  );
}

/** The place of a run: its project, and its environment if it still exists. */
export type RunPlaceRow = {
  readonly applicationId: Uuid;
  readonly environmentId: Uuid | null;
  readonly production: boolean | null;
};

/** Returns undefined if the project is deleted. */
export async function selectRunPlace(
  db: Store,
  accountId: Uuid,
  { project, environment }: { readonly project: Place; readonly environment: Referred | undefined },
): Promise<RunPlaceRow | undefined> {
  const rows = await db.query<RunPlaceRow>(
    `select p.id as "applicationId", e.id as "environmentId", e.type = 'Production' as production
       from projects p left join environments e on e.account_id = p.account_id
        and e.org_identifier is not distinct from $4 and e.project_identifier is not distinct from $5 and e.identifier = $6
      where p.account_id = $1 and p.org_identifier = $2 and p.identifier = $3`,
    [
      accountId,
      project.orgIdentifier,
      project.projectIdentifier,
      environment?.orgIdentifier ?? null,
      environment?.projectIdentifier ?? null,
      environment?.identifier ?? null,
    ],
  );
  return rows[0];
}

/** Production environments of a project, of its organization and of the account, as the project refers to them. */
export async function selectProductionReferences(
  db: Store,
  accountId: Uuid,
  { orgIdentifier, projectIdentifier }: Place,
): Promise<string[]> {
  const rows = await db.query<{ reference: string }>(
    `select case when project_identifier is not null then '' when org_identifier is not null then 'org.' else 'account.' end
            || identifier as reference
       from environments
      where account_id = $1 and type = 'Production'
        and (org_identifier is null or (org_identifier = $2 and (project_identifier is null or project_identifier = $3)))`,
    [accountId, orgIdentifier, projectIdentifier],
  );
  return rows.map(({ reference }) => reference);
}
