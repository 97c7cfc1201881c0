import type { Uuid } from "../../core/ids.ts";
import type { Place, Referred } from "../../core/reference.ts";
import type { SortOrder } from "../../core/page.ts";
import type { Store } from "../../platform/db/db.ts";
import { orderBy, statementPrefix } from "../../platform/db/order.ts";
import type { ResourceGroup } from "../resource-groups/resource-group.ts";

type StoredGroup = ResourceGroup & { readonly id: Uuid };

const GROUP = `id, org_identifier as "orgIdentifier", project_identifier as "projectIdentifier", identifier, name,
  description, color, tags, scope_levels as levels, included_scopes as included, every_resource as "everyResource",
  resources, created_at as "createdAt", updated_at as "updatedAt"`;
const AT = `account_id = $1 and org_identifier is not distinct from $2 and project_identifier is not distinct from $3`;
const values = (accountId: Uuid, { orgIdentifier, projectIdentifier }: Place): unknown[] => [
  accountId,
  orgIdentifier,
  projectIdentifier,
];
const content = (group: StoredGroup): unknown[] => [
  group.name,
  group.description,
  group.color,
  JSON.stringify(group.tags),
  group.levels,
  JSON.stringify(group.included),
  group.everyResource,
  JSON.stringify(group.resources),
  group.updatedAt,
];

/** False if the identifier is taken. */
export async function insertResourceGroup(db: Store, accountId: Uuid, group: StoredGroup): Promise<boolean> {
  const rows = await db.query(
    `insert into resource_groups (account_id, org_identifier, project_identifier, id, identifier, name, description, color,
                                  tags, scope_levels, included_scopes, every_resource, resources, updated_at, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
     on conflict (account_id, org_identifier, project_identifier, identifier) do nothing returning id`,
    [...values(accountId, group), group.id, group.identifier, ...content(group), group.createdAt],
  );
  return rows.length > 0;
}

/** Locks `for share` to assign the group, `for update` to change it, so that both are serialized. */
export async function findResourceGroup(
  db: Store,
  accountId: Uuid,
  { key, lock }: { readonly key: Referred; readonly lock?: "for share" | "for update" },
): Promise<StoredGroup | undefined> {
  const rows = await db.query<StoredGroup>(
    `select ${GROUP} from resource_groups where ${AT} and identifier = $4 ${lock ?? ""}`,
    [...values(accountId, key), key.identifier],
  );
  return rows[0];
}

/** Locks all groups of one scope in the order of their ids, since a deletion removes the group from the others. */
export async function lockResourceGroups(db: Store, accountId: Uuid, at: Place): Promise<void> {
  await db.query(`select 1 from resource_groups where ${AT} order by id for update`, values(accountId, at));
}

export async function updateResourceGroupRow(db: Store, accountId: Uuid, group: StoredGroup): Promise<void> {
  await db.query(
    `update resource_groups set name = $3, description = $4, color = $5, tags = $6, scope_levels = $7,
            included_scopes = $8, every_resource = $9, resources = $10, updated_at = $11
      where account_id = $1 and id = $2`,
    [accountId, group.id, ...content(group)],
  );
}

/** The number of included scopes and single resources in all groups of one scope. */
export async function countEntries(db: Store, accountId: Uuid, place: Place): Promise<number> {
  const rows = await db.query<{ total: number }>(
    `select coalesce(sum(jsonb_array_length(included_scopes)
              + (select coalesce(sum(jsonb_array_length(r -> 'identifiers')), 0)
                   from jsonb_array_elements(resources) r where jsonb_typeof(r -> 'identifiers') = 'array')), 0)::bigint as total
       from resource_groups where ${AT}`,
    values(accountId, place),
  );
  return rows[0]?.total ?? 0;
}

export async function deleteResourceGroupRow(db: Store, accountId: Uuid, id: Uuid): Promise<void> {
  await db.query(`delete from resource_groups where account_id = $1 and id = $2`, [accountId, id]);
}

/** All groups of one scope, by name or in the given order; their number is small. */
export const selectResourceGroups = (
  db: Store,
  accountId: Uuid,
  { place, order }: { readonly place: Place; readonly order?: readonly SortOrder[] | undefined },
): Promise<StoredGroup[]> =>
  db.query<StoredGroup>(
    `${statementPrefix(order)}select ${GROUP} from resource_groups where ${AT} order by ${orderBy(order, "name")}`,
    values(accountId, place),
  );
