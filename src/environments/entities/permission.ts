import type { Actor } from "../../core/actor.ts";
import { scopeOf, type Referred } from "../../core/reference.ts";
import type { Kind } from "../entity.ts";
import type { EntityDeps } from "./deps.ts";

/** Checks the permission, then that the scope exists. Throws what RequireScope throws. */
export function requirePermission(
  deps: Pick<EntityDeps, "authorize" | "requireScope">,
  kind: Kind,
  actor: Actor,
  action: "view" | "edit" | "delete",
  key: Referred,
): Promise<void> {
  const scope = scopeOf(actor.accountId, key);
  deps.authorize(actor, `core_${kind.noun}_${action}`, scope, key.identifier);
  return deps.requireScope(actor, key);
}
