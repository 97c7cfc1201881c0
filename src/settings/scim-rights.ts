/**
 * Permission check for the four SCIM settings. They decide whose signed tokens are accepted as the service account that
 * one of them names. A change therefore requires the permissions of that service account:
 *
 * 1. A change of another setting requires those of the named service account.
 * 2. A change of the name requires those of the old and of the new service account.
 * 3. Without a name, or with the name of a missing service account, a change requires all permissions, because a later
 *    change may name any service account.
 *
 * The settings are read in the transaction of the change.
 */
import type { RequireAllPermissions, PreventEscalationTo } from "../access/index.ts";
import type { Actor } from "../core/actor.ts";
import type { Tx } from "../platform/db/db.ts";
import { findServiceAccount } from "../identity/index.ts";
import type { SettingIdentifier } from "./catalogue.ts";
import type { Definition, StoredSetting } from "./setting.ts";

/** The setting that names the service account. */
export const SERVICE_ACCOUNT_SETTING = "scim_jwt_token_service_account_id" satisfies SettingIdentifier;

export type ScimRightsDeps = {
  readonly preventEscalationToServiceAccount: PreventEscalationTo;
  readonly requireAllPermissions: RequireAllPermissions;
};

/**
 * `rows` are the present settings of the account; `value` is the new value, empty if it is removed. Throws
 * `access.beyond_own`.
 */
export const requireScimRights =
  ({ preventEscalationToServiceAccount, requireAllPermissions }: ScimRightsDeps) =>
  async (
    tx: Tx,
    actor: Actor,
    {
      definition,
      rows,
      value,
    }: { readonly definition: Definition; readonly rows: readonly StoredSetting[]; readonly value: string },
  ): Promise<void> => {
    if (definition.group !== "scim") return;
    const named = rows.find(({ identifier }) => identifier === SERVICE_ACCOUNT_SETTING)?.value ?? "";
    const names =
      definition.identifier === SERVICE_ACCOUNT_SETTING ? [named, value].filter((name) => name !== "") : [named];
    for (const identifier of names) {
      const key = { orgIdentifier: null, projectIdentifier: null, identifier };
      const found = await findServiceAccount(tx, actor.accountId, key);
      if (found) await preventEscalationToServiceAccount(tx, actor, found.id);
      else requireAllPermissions(actor);
    }
  };
