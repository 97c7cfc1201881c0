/** Nobody gives away more than they hold: otherwise whoever may hand out roles could hand themselves every one. */
import type { Actor } from "../core/actor.ts";
import type { Grant, Grants } from "../core/grants.ts";
import type { Uuid } from "../core/ids.ts";
import type { Query } from "../platform/db/db.ts";
import { ACCOUNT_ADMIN, builtInRoles } from "./builtin.ts";
import { compile } from "./compile.ts";
import { permissions } from "./permission.ts";
import { problem } from "./problems.ts";
import { findServiceAccountGrants, findUserGrants } from "./store/grants.ts";

/** Throws `access.beyond_own` unless the actor holds everything that the grants give. */
export function requireHeld(actor: Actor, given: Grants): void {
  if (actor.kind === "system") return;
  const own = actor.kind === "user" || actor.kind === "service_account" ? actor.grants : [];
  const [missing] = missingOf(own, given);
  if (missing !== undefined) throw problem("access.beyond_own", [missing]);
}

/** Whether who has the one holds everything that the other gives. */
export const holdsAll = (own: Grants, given: Grants): boolean => missingOf(own, given).next().done === true;

function* missingOf(own: Grants, given: Grants): Generator<string, undefined> {
  for (const grant of given)
    for (const permission of grant.permissions) if (!isHeld(own, grant, permission)) yield permission;
}

/** Throws `access.beyond_own` unless the actor holds everything that the other does: whoever lets somebody act as it gives that away. */
export type RequireHeldOf = (db: { readonly query: Query }, actor: Actor, id: Uuid) => Promise<void>;

/** Reads the grants themselves: what is kept for a second would not know what was assigned just now on another replica. */
export const requireHeldOf: RequireHeldOf = async (db, actor, serviceAccountId) =>
  requireHeld(actor, compile(await findServiceAccountGrants(db, actor.accountId, serviceAccountId)));

const EVERYTHING: Grants = [
  {
    scope: {},
    children: true,
    permissions: builtInRoles.get(ACCOUNT_ADMIN)?.permissions ?? new Set(),
    resources: "all",
  },
];

/** Throws `access.beyond_own` unless the actor holds everything that there is: for what may come to act as anybody. */
export type RequireEverythingHeld = (actor: Actor) => void;

export const requireEverythingHeld: RequireEverythingHeld = (actor) => requireHeld(actor, EVERYTHING);

/** The same of a person. */
export const requireHeldOfPerson: RequireHeldOf = async (db, actor, userId) =>
  requireHeld(actor, compile(await findUserGrants(db, actor.accountId, userId)));

function isHeld(own: Grants, given: Grant, permission: string): boolean {
  const type = permissions.get(permission)?.resourceType ?? "";
  const holding = own.filter((one) => one.permissions.has(permission) && isAround(one, given));
  const wanted = given.resources === "all" ? "all" : given.resources.get(type);
  // Of a type that the grant does not name it gives nothing.
  if (wanted === undefined) return true;
  const isWhole = holding.some((one) => one.resources === "all" || one.resources.get(type) === "all");
  if (isWhole || wanted === "all") return isWhole;
  return [...wanted].every((identifier) =>
    holding.some((one) => one.resources !== "all" && (one.resources.get(type) as ReadonlySet<string>)?.has(identifier)),
  );
}

/** Whether the one holds wherever the other does. */
function isAround({ scope: outer, children }: Grant, { scope: inner, children: below }: Grant): boolean {
  const isSame = outer.orgIdentifier === inner.orgIdentifier && outer.projectIdentifier === inner.projectIdentifier;
  if (isSame) return children || !below || inner.projectIdentifier !== undefined;
  if (!children || outer.projectIdentifier !== undefined) return false;
  return outer.orgIdentifier === undefined || outer.orgIdentifier === inner.orgIdentifier;
}
