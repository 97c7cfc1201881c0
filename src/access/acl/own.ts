import type { Actor } from "../../core/actor.ts";
import { scopeOf, type Place } from "../../core/reference.ts";
import { levelOf, permissions, type PermissionFacts } from "../grants/permission.ts";
import { permits, seen } from "../grants/permits.ts";

/** A permission in a scope: on all resources of its type, or on those with these identifiers. */
export type OwnPermission = Pick<PermissionFacts, "identifier" | "resourceType"> & {
  readonly identifiers: readonly string[] | "all";
};

/**
 * Returns the permissions that the actor holds in a scope, or on single resources there. The scope need not exist: the
 * answer is what checks of the actor would find.
 */
export function listOwnPermissions(actor: Actor, place: Place): readonly OwnPermission[] {
  const scope = scopeOf(actor.accountId, place);
  const level = levelOf(place);
  return [...permissions.values()]
    .filter(({ levels }) => levels.includes(level))
    .flatMap(({ identifier, resourceType }): readonly OwnPermission[] => {
      // A project is itself a resource of its organization: `seen` only finds what lies inside.
      const found = permits(actor, identifier, scope) ? "all" : seen(actor, identifier, scope);
      if (found === "all") return [{ identifier, resourceType, identifiers: found }];
      return found.size === 0 ? [] : [{ identifier, resourceType, identifiers: [...found].toSorted() }];
    });
}
