import type { Actor } from "../../core/actor.ts";
import { shownRemovals } from "../../platform/removed-reference.ts";
import { deleteGroupRow } from "../store/user-groups.ts";
import { groupEntry, shownGroup } from "./audit.ts";
import type { GroupDeps } from "./deps.ts";
import { requireGroup } from "./get/require-group.ts";
import { lockGroupFor } from "./lock.ts";
import type { GroupKey, GroupWrite, UserGroup } from "./user-group.ts";

/**
 * Deletes a group with its memberships and assignments. Throws what `updateGroup` throws, and `core.stale_version` if
 * the group has another version.
 */
export const deleteGroup =
  (deps: Pick<GroupDeps, "db" | "audit" | "dereference" | "invalidateGrants" | "keepAdministrator">) =>
  async (actor: Actor, key: GroupKey, write: GroupWrite = { writer: "interface" }): Promise<UserGroup> => {
    const { accountId } = actor;
    const found = await requireGroup(deps.db, actor, "core_usergroup_manage", key);
    return deps.db.transaction(async (tx) => {
      const group = await lockGroupFor(tx, accountId, { ...write, found });
      const held = await deleteGroupRow(tx, accountId, group.id);
      const gone = [...held, ...(await deps.dereference(tx, accountId, group, { USERGROUP: group.identifier }))];
      await deps.audit.record(
        tx,
        actor,
        groupEntry("delete", { group, before: { ...shownRemovals(gone), ...shownGroup(group) } }),
      );
      deps.invalidateGrants(tx, accountId);
      await deps.keepAdministrator(tx, accountId);
      return group;
    });
  };
