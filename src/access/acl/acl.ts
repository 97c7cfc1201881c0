import type { Actor } from "../../core/actor.ts";
import { fromWire, toWire } from "../../core/ids.ts";
import type { Scope } from "../../core/scope.ts";
import type { GrantsOf } from "../grants/grants.ts";
import { permissions, type Permission } from "../grants/permission.ts";
import { authorize, permits, permitsWith } from "../grants/permits.ts";
import { problem } from "../problems.ts";

export type Check = {
  readonly permission: string;
  readonly scope: Omit<Scope, "accountId">;
  readonly resourceType: string;
  readonly resourceIdentifier: string | null;
};

/** A user or service account by id; null is the caller. */
export type AskedPrincipal = { readonly type: "USER" | "SERVICE_ACCOUNT"; readonly identifier: string } | null;

/**
 * Returns whether each check would be permitted. Every actor may ask about itself; asking about others requires
 * permission to view roles. An unknown permission is denied.
 */
export const checkAccess =
  ({ grantsOf }: { grantsOf: GrantsOf }) =>
  async (actor: Actor, checks: readonly Check[], principal: AskedPrincipal): Promise<readonly boolean[]> => {
    const { accountId } = actor;
    const own = "id" in actor ? toWire(actor.id) : "";
    const grants =
      principal === null || principal.identifier === own ? null : await ofOther(actor, principal, grantsOf);
    return checks.map(({ permission, scope, resourceType, resourceIdentifier }) => {
      const facts = permissions.get(permission);
      if (!facts || facts.resourceType !== resourceType) return false;
      const at = { accountId, ...scope };
      const named = resourceIdentifier ?? undefined;
      return grants
        ? permitsWith(grants, permission as Permission, at, named)
        : permits(actor, permission as Permission, at, named);
    });
  };

export type AskAccess = ReturnType<typeof checkAccess>;

function ofOther(actor: Actor, { type, identifier }: NonNullable<AskedPrincipal>, grantsOf: GrantsOf) {
  authorize(actor, "core_role_view", { accountId: actor.accountId });
  const id = fromWire(identifier);
  if (!id) throw problem("access.no_person", [identifier.slice(0, 64)]);
  return grantsOf(actor.accountId, { type, id });
}
