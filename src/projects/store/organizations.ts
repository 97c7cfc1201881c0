import { within, type Reach } from "../../access/index.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Window } from "../../core/page.ts";
import type { Store } from "../../platform/db/db.ts";
import { orderBy, statementPrefix } from "../../platform/db/order.ts";
import type { Organization } from "../organizations/organization.ts";

const ORGANIZATION = `id, identifier, name, description, tags, version, created_at as "createdAt", updated_at as "updatedAt"`;

export async function organizationExists(db: Store, accountId: Uuid, identifier: string): Promise<boolean> {
  const rows = await db.query(`select 1 from organizations where account_id = $1 and identifier = $2`, [
    accountId,
    identifier,
  ]);
  return rows.length > 0;
}

/** Returns false if the identifier is taken. */
export async function insertOrganization(db: Store, accountId: Uuid, org: Organization): Promise<boolean> {
  const rows = await db.query(
    `insert into organizations (account_id, id, identifier, name, description, tags, version, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     on conflict (account_id, identifier) do nothing returning id`,
    [
      accountId,
      org.id,
      org.identifier,
      org.name,
      org.description,
      JSON.stringify(org.tags),
      org.version,
      org.createdAt,
      org.updatedAt,
    ],
  );
  return rows.length > 0;
}

export async function findOrganization(
  db: Store,
  accountId: Uuid,
  identifier: string,
): Promise<Organization | undefined> {
  const rows = await db.query<Organization>(
    `select ${ORGANIZATION} from organizations where account_id = $1 and identifier = $2`,
    [accountId, identifier],
  );
  return rows[0];
}

/** Locks the row until the end of the transaction, also against new resources in the organization. */
export async function lockOrganizationForDeletion(
  db: Store,
  accountId: Uuid,
  identifier: string,
): Promise<Organization | undefined> {
  const rows = await db.query<Organization>(
    `select ${ORGANIZATION} from organizations where account_id = $1 and identifier = $2 for update`,
    [accountId, identifier],
  );
  return rows[0];
}

/** Locks the row until the end of the transaction against other changes. New resources in it are possible. */
export async function lockOrganizationForChange(
  db: Store,
  accountId: Uuid,
  identifier: string,
): Promise<Organization | undefined> {
  const rows = await db.query<Organization>(
    `select ${ORGANIZATION} from organizations where account_id = $1 and identifier = $2 for no key update`,
    [accountId, identifier],
  );
  return rows[0];
}

export type OrganizationFilter = {
  readonly searchTerm: string;
  readonly identifiers: readonly string[] | undefined;
  readonly reach: "all" | readonly Reach[];
};

// `strpos` instead of `like`, so that no character of the text is a wildcard.
const MATCHES = `account_id = $1 and (strpos(lower(name), lower($2)) > 0 or strpos(lower(identifier), lower($2)) > 0)
   and ($3::text[] is null or identifier = any($3))
   and ($4::jsonb is null or ${within("$4", { org: "identifier", project: "null::text", identifier: "identifier" })})`;
const values = (accountId: Uuid, filter: OrganizationFilter) => [
  accountId,
  filter.searchTerm,
  filter.identifiers ?? null,
  filter.reach === "all" ? null : JSON.stringify(filter.reach),
];

export async function selectOrganizations(
  db: Store,
  accountId: Uuid,
  { filter, window }: { readonly filter: OrganizationFilter; readonly window: Window },
): Promise<Organization[]> {
  const { limit, offset, order } = window;
  return db.query<Organization>(
    `${statementPrefix(order)}select ${ORGANIZATION} from organizations where ${MATCHES}
      order by ${orderBy(order, "name")} limit $5 offset $6`,
    [...values(accountId, filter), limit, offset],
  );
}

export async function countOrganizations(db: Store, accountId: Uuid, filter: OrganizationFilter): Promise<number> {
  const rows = await db.query<{ total: number }>(
    `select count(*) as total from organizations where ${MATCHES}`,
    values(accountId, filter),
  );
  return rows[0]?.total ?? 0;
}

type OrganizationChange = {
  readonly identifier: string;
  readonly fields: Pick<Organization, "name" | "description" | "tags">;
  readonly version: number | undefined;
  readonly at: number;
};

/** Returns the changed organization; undefined if it is missing or has another version. */
export async function updateOrganizationRow(
  db: Store,
  accountId: Uuid,
  { identifier, fields, version, at }: OrganizationChange,
): Promise<Organization | undefined> {
  const rows = await db.query<Organization>(
    `update organizations set name = $3, description = $4, tags = $5, version = version + 1, updated_at = $6
      where account_id = $1 and identifier = $2 and ($7::int is null or version = $7)
      returning ${ORGANIZATION}`,
    [accountId, identifier, fields.name, fields.description, JSON.stringify(fields.tags), at, version ?? null],
  );
  return rows[0];
}

/** Returns false if it has another version than expected. */
export async function deleteOrganizationRow(
  db: Store,
  accountId: Uuid,
  { identifier, version }: { readonly identifier: string; readonly version: number | undefined },
): Promise<boolean> {
  const rows = await db.query(
    `delete from organizations where account_id = $1 and identifier = $2 and ($3::int is null or version = $3)
      returning id`,
    [accountId, identifier, version ?? null],
  );
  return rows.length > 0;
}
