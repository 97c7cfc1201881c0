import type { Actor } from "../../core/actor.ts";
import type { Scope } from "../../core/scope.ts";
import type { Permission } from "./permission.ts";
import { authorize, seen } from "./permits.ts";

/** The identifiers that a list of one scope may show; null: all of them. */
export type Listed = readonly string[] | null;

/** Returns what the actor may view. Throws `access.not_permitted` if that is nothing. */
export function listed(actor: Actor, permission: Permission, scope: Scope): Listed {
  const visible = seen(actor, permission, scope);
  if (visible === "all") return null;
  if (visible.size === 0) authorize(actor, permission, scope);
  return [...visible];
}
