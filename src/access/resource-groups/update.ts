import type { Actor } from "../../core/actor.ts";
import { scopeOf } from "../../core/reference.ts";
import type { WriteDeps } from "../deps.ts";
import { compile } from "../grants/compile.ts";
import { preventEscalation } from "../grants/escalation.ts";
import { authorize } from "../grants/permits.ts";
import { requireSame } from "../places.ts";
import { problem } from "../problems.ts";
import { findGrantsBy } from "../store/grants.ts";
import { findResourceGroup, updateResourceGroupRow } from "../store/resource-groups.ts";
import { resourceGroupEntry, shownResourceGroup } from "./audit.ts";
import { requireRoom } from "./require-room.ts";
import { checkGroup, type NewResourceGroup, type ResourceGroup } from "./resource-group.ts";

/**
 * Changes a group. If it is assigned, the actor must hold everything that its principals then get. Throws
 * `access.other_identifier`, what `checkGroup` throws, `access.no_resource_group`, `access.beyond_own`, and what
 * `requireRoom` throws.
 */
export const updateResourceGroup =
  (deps: Pick<WriteDeps, "db" | "audit" | "clock" | "invalidateGrants">) =>
  async (actor: Actor, identifier: string, input: NewResourceGroup): Promise<ResourceGroup> => {
    const { accountId } = actor;
    authorize(actor, "core_resourcegroup_edit", scopeOf(accountId, input), identifier);
    requireSame(input.identifier, identifier);
    checkGroup(input);
    return deps.db.transaction(async (tx) => {
      const now = await findResourceGroup(tx, accountId, { key: input, lock: "for update" });
      if (!now) throw problem("access.no_resource_group", [input.identifier]);
      const group = { ...now, ...input, updatedAt: deps.clock.now() };
      const uses = await findGrantsBy(tx, accountId, { column: "resource_group_id", id: now.id });
      const { included, everyResource, resources } = group;
      preventEscalation(actor, compile(uses.map((use) => ({ ...use, included, everyResource, resources }))));
      await updateResourceGroupRow(tx, accountId, group);
      await requireRoom(tx, accountId, group);
      const before = shownResourceGroup(now);
      const after = shownResourceGroup(group);
      await deps.audit.record(tx, actor, resourceGroupEntry("update", { group, before, after }));
      deps.invalidateGrants(tx, accountId);
      return group;
    });
  };

export type UpdateResourceGroup = ReturnType<typeof updateResourceGroup>;
