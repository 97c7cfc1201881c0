import type { Uuid } from "../../core/ids.ts";
import type { Place, Referred } from "../../core/reference.ts";
import type { SortOrder } from "../../core/page.ts";
import type { Store } from "../../platform/db/db.ts";
import { orderBy, statementPrefix } from "../../platform/db/order.ts";
import type { Role } from "../roles/role.ts";

type StoredRole = Role & { readonly id: Uuid };

const ROLE = `id, org_identifier as "orgIdentifier", project_identifier as "projectIdentifier", identifier, name,
  description, tags, permissions, scope_levels as levels, created_at as "createdAt", updated_at as "updatedAt"`;
const AT = `account_id = $1 and org_identifier is not distinct from $2 and project_identifier is not distinct from $3`;
const values = (accountId: Uuid, { orgIdentifier, projectIdentifier }: Place): unknown[] => [
  accountId,
  orgIdentifier,
  projectIdentifier,
];

/** False if the identifier is taken. */
export async function insertRole(db: Store, accountId: Uuid, role: StoredRole): Promise<boolean> {
  const rows = await db.query(
    `insert into roles (account_id, org_identifier, project_identifier, id, identifier, name, description, tags,
                        permissions, scope_levels, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
     on conflict (account_id, org_identifier, project_identifier, identifier) do nothing returning id`,
    [
      ...values(accountId, role),
      role.id,
      role.identifier,
      role.name,
      role.description,
      JSON.stringify(role.tags),
      role.permissions,
      role.levels,
      role.createdAt,
      role.updatedAt,
    ],
  );
  return rows.length > 0;
}

/** Locks `for share` to assign the role, `for update` to change it, so that both are serialized. */
export async function findRole(
  db: Store,
  accountId: Uuid,
  { key, lock }: { readonly key: Referred; readonly lock?: "for share" | "for update" },
): Promise<StoredRole | undefined> {
  const rows = await db.query<StoredRole>(`select ${ROLE} from roles where ${AT} and identifier = $4 ${lock ?? ""}`, [
    ...values(accountId, key),
    key.identifier,
  ]);
  return rows[0];
}

export async function updateRoleRow(db: Store, accountId: Uuid, role: StoredRole): Promise<void> {
  await db.query(
    `update roles set name = $3, description = $4, tags = $5, permissions = $6, scope_levels = $7, updated_at = $8
      where account_id = $1 and id = $2`,
    [
      accountId,
      role.id,
      role.name,
      role.description,
      JSON.stringify(role.tags),
      role.permissions,
      role.levels,
      role.updatedAt,
    ],
  );
}

export async function deleteRoleRow(db: Store, accountId: Uuid, id: Uuid): Promise<void> {
  await db.query(`delete from roles where account_id = $1 and id = $2`, [accountId, id]);
}

/** All roles of one scope, by name or in the given order; their number is small. */
export const selectRoles = (
  db: Store,
  accountId: Uuid,
  { place, order }: { readonly place: Place; readonly order?: readonly SortOrder[] | undefined },
): Promise<StoredRole[]> =>
  db.query<StoredRole>(
    `${statementPrefix(order)}select ${ROLE} from roles where ${AT} order by ${orderBy(order, "name")}`,
    values(accountId, place),
  );
