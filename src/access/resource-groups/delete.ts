import type { Actor } from "../../core/actor.ts";
import { commonProblem } from "../../core/problems.ts";
import { scopeOf, type Referred } from "../../core/reference.ts";
import { shownRemovals } from "../../platform/removed-reference.ts";
import type { WriteDeps } from "../deps.ts";
import { authorize } from "../grants/permits.ts";
import { problem } from "../problems.ts";
import { countUses } from "../store/assignments.ts";
import { deleteResourceGroupRow, findResourceGroup, lockResourceGroups } from "../store/resource-groups.ts";
import { resourceGroupEntry, shownResourceGroup } from "./audit.ts";
import { findBuiltInGroup, type ResourceGroup } from "./resource-group.ts";

/**
 * Deletes a resource group and returns it. Throws `access.reserved_identifier`, `access.no_resource_group`, and
 * `core.referenced` while it is assigned.
 */
export const deleteResourceGroup =
  (deps: Pick<WriteDeps, "db" | "audit" | "dereference">) =>
  async (actor: Actor, key: Referred): Promise<ResourceGroup> => {
    const { accountId } = actor;
    authorize(actor, "core_resourcegroup_delete", scopeOf(accountId, key), key.identifier);
    if (findBuiltInGroup(key)) throw problem("access.reserved_identifier", [key.identifier]);
    return deps.db.transaction(async (tx) => {
      await lockResourceGroups(tx, accountId, key);
      const group = await findResourceGroup(tx, accountId, { key });
      if (!group) throw problem("access.no_resource_group", [key.identifier]);
      const uses = await countUses(tx, accountId, { column: "resource_group_id", id: group.id });
      if (uses > 0)
        throw commonProblem("core.referenced", ["Resource group", group.identifier, `${uses} role assignments`]);
      await deleteResourceGroupRow(tx, accountId, group.id);
      const gone = await deps.dereference(tx, accountId, group, { RESOURCEGROUP: group.identifier });
      const before = { ...shownRemovals(gone), ...shownResourceGroup(group) };
      await deps.audit.record(tx, actor, resourceGroupEntry("delete", { group, before }));
      return group;
    });
  };

export type DeleteResourceGroup = ReturnType<typeof deleteResourceGroup>;
