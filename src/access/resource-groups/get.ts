import type { Actor } from "../../core/actor.ts";
import { scopeOf, type Referred } from "../../core/reference.ts";
import type { WriteDeps } from "../deps.ts";
import { authorize } from "../grants/permits.ts";
import { problem } from "../problems.ts";
import { findResourceGroup } from "../store/resource-groups.ts";
import { findBuiltInGroup, type ResourceGroup } from "./resource-group.ts";

/** Returns one resource group, built-in or custom. Throws `access.no_resource_group`. */
export const getResourceGroup =
  ({ db }: Pick<WriteDeps, "db">) =>
  async (actor: Actor, key: Referred): Promise<ResourceGroup> => {
    authorize(actor, "core_resourcegroup_view", scopeOf(actor.accountId, key), key.identifier);
    const group = findBuiltInGroup(key) ?? (await findResourceGroup(db, actor.accountId, { key }));
    if (!group) throw problem("access.no_resource_group", [key.identifier]);
    return group;
  };

export type GetResourceGroup = ReturnType<typeof getResourceGroup>;
