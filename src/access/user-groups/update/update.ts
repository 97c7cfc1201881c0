import type { Actor } from "../../../core/actor.ts";
import { requireGroup } from "../get/require-group.ts";
import type { GroupKey, UserGroup } from "../user-group.ts";
import { changeGroup, type ChangeDeps, type GroupChange } from "./change-group.ts";

/**
 * Changes fields and members of a group. Throws `access.no_group`, `access.externally_managed`, `access.name_taken`,
 * `access.no_person`, `access.last_administrator`, and `access.beyond_own` if the group grants a new member more than
 * the actor holds.
 */
export const updateGroup =
  (deps: ChangeDeps) =>
  async (actor: Actor, key: GroupKey, change: GroupChange): Promise<UserGroup> => {
    const found = await requireGroup(deps.db, actor, "core_usergroup_manage", key);
    return deps.db.transaction((tx) => changeGroup(tx, deps, { actor, found, change, writer: "interface" }));
  };
