import type { Actor } from "../../core/actor.ts";
import { scopeOf } from "../../core/reference.ts";
import type { WriteDeps } from "../deps.ts";
import { authorize } from "../grants/permits.ts";
import { problem } from "../problems.ts";
import { insertResourceGroup } from "../store/resource-groups.ts";
import { resourceGroupEntry, shownResourceGroup } from "./audit.ts";
import { requireRoom } from "./require-room.ts";
import { checkGroup, type NewResourceGroup, type ResourceGroup } from "./resource-group.ts";

/**
 * Creates a resource group. Throws what RequireScope and `checkGroup` throw, `access.duplicate`, and what `requireRoom`
 * throws.
 */
export const createResourceGroup =
  (deps: Pick<WriteDeps, "db" | "audit" | "clock" | "newId" | "requireScope">) =>
  async (actor: Actor, input: NewResourceGroup): Promise<ResourceGroup> => {
    const { accountId } = actor;
    authorize(actor, "core_resourcegroup_edit", scopeOf(accountId, input), input.identifier);
    await deps.requireScope(actor, input);
    checkGroup(input);
    const at = deps.clock.now();
    const group = { ...input, id: deps.newId(), createdAt: at, updatedAt: at };
    await deps.db.transaction(async (tx) => {
      if (!(await insertResourceGroup(tx, accountId, group)))
        throw problem("access.duplicate", ["resource group", group.identifier]);
      await requireRoom(tx, accountId, group);
      await deps.audit.record(tx, actor, resourceGroupEntry("create", { group, after: shownResourceGroup(group) }));
    });
    return group;
  };

export type CreateResourceGroup = ReturnType<typeof createResourceGroup>;
