import type { Actor } from "../../../core/actor.ts";
import { toWire } from "../../../core/ids.ts";
import { scopeOf, type Referred } from "../../../core/reference.ts";
import type { Db } from "../../../platform/db/db.ts";
import type { Permission } from "../../grants/permission.ts";
import { authorize, authorizeSomewhere, refusalOf } from "../../grants/permits.ts";
import { problem } from "../../problems.ts";
import { findGroup, findGroupById } from "../../store/user-groups.ts";
import { allUsersOf, type GroupKey, type UserGroup } from "../user-group.ts";

/** A group that the actor may view with this permission; others do not exist. Throws `access.no_group`. */
export async function requireGroup(db: Db, actor: Actor, permission: Permission, key: GroupKey): Promise<UserGroup> {
  const { accountId } = actor;
  if ("identifier" in key) {
    authorize(actor, permission, scopeOf(accountId, key), key.identifier);
    if (allUsersOf(key).identifier === key.identifier) {
      if (permission !== "core_usergroup_view") throw problem("access.reserved_identifier", [key.identifier]);
      return allUsersOf(key);
    }
    const group = await findGroup(db, accountId, key);
    if (!group) throw problem("access.no_group", [key.identifier]);
    return group;
  }
  authorizeSomewhere(actor, permission);
  const group = await findGroupById(db, accountId, key.id);
  const refusal = group && refusalOf(actor, permission, scopeOf(accountId, group), group.identifier);
  if (!group || refusal) throw problem("access.no_group", [toWire(key.id)], { refusal });
  return group;
}

/** Checks the permission to change the group before the request is read further. */
export const checkManage = (actor: Actor, key: Referred): void =>
  authorize(actor, "core_usergroup_manage", scopeOf(actor.accountId, key), key.identifier);
