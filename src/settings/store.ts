import type { RemovedReference, DeletedScope } from "../platform/removed-reference.ts";
import { deleteFromScope } from "../platform/db/removed-rows.ts";
import type { Uuid } from "../core/ids.ts";
import type { Store } from "../platform/db/db.ts";
import type { SettingScope, StoredSetting } from "./setting.ts";

/** Returns the values that are set at this scope and at its parents. */
export async function findSettings(db: Store, accountId: Uuid, scope: SettingScope): Promise<StoredSetting[]> {
  return db.query<StoredSetting>(
    `select org_identifier as "orgIdentifier", project_identifier as "projectIdentifier", identifier, value,
            allow_overrides as "allowOverrides", updated_at as "updatedAt"
       from settings
      where account_id = $1 and (org_identifier is null or org_identifier = $2)
        and (project_identifier is null or project_identifier = $3)`,
    [accountId, scope.orgIdentifier, scope.projectIdentifier],
  );
}

/** Until the transaction ends: two updates at once must not both read what neither has written yet. */
export async function lockSettings(db: Store, accountId: Uuid): Promise<void> {
  await db.query(`select id from accounts where id = $1 for no key update`, [accountId]);
}

export async function saveSetting(db: Store, accountId: Uuid, row: StoredSetting): Promise<void> {
  await db.query(
    `insert into settings (account_id, org_identifier, project_identifier, identifier, value, allow_overrides, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (account_id, org_identifier, project_identifier, identifier)
     do update set value = $5, allow_overrides = $6, updated_at = $7`,
    [accountId, row.orgIdentifier, row.projectIdentifier, row.identifier, row.value, row.allowOverrides, row.updatedAt],
  );
}

export async function deleteSetting(
  db: Store,
  accountId: Uuid,
  { orgIdentifier, projectIdentifier, identifier }: SettingScope & Pick<StoredSetting, "identifier">,
): Promise<void> {
  await db.query(
    `delete from settings where account_id = $1 and org_identifier is not distinct from $2
        and project_identifier is not distinct from $3 and identifier = $4`,
    [accountId, orgIdentifier, projectIdentifier, identifier],
  );
}

export const deleteSettingsOf = (db: Store, scope: DeletedScope): Promise<readonly RemovedReference[]> =>
  deleteFromScope(db, scope, { type: "SETTING", table: "settings" });
