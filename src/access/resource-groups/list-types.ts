import type { Actor } from "../../core/actor.ts";
import type { Place } from "../../core/reference.ts";
import { resourceTypes } from "../grants/permission.ts";
import { requireSeen } from "../places.ts";

/** Lists the resource types that a group can name. The actor must be allowed to view a resource group of the scope. */
export function listResourceTypes(actor: Actor, place: Place): typeof resourceTypes {
  requireSeen(actor, "core_resourcegroup_view", place);
  return resourceTypes;
}
