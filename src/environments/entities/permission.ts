import type { Actor } from "../../core/actor.ts";
import { scopeOf, type Referred } from "../../core/reference.ts";
import type { Kind } from "../entity.ts";
import type { EntityDeps } from "./deps.ts";

type Access = { readonly kind: Kind; readonly action: "view" | "edit" | "delete"; readonly key: Referred };

/** Checks the permission, then that the scope exists. Throws what RequireScope throws. */
export function requirePermission(
  deps: Pick<EntityDeps, "authorize" | "requireScope">,
  actor: Actor,
  { kind, action, key }: Access,
): Promise<void> {
  const scope = scopeOf(actor.accountId, key);
  deps.authorize(actor, `core_${kind.noun}_${action}`, scope, key.identifier);
  return deps.requireScope(actor, key);
}
