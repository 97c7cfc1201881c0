/** An actor cannot grant more than they hold: otherwise an administrator of roles could take every role. */
import type { Actor } from "../../core/actor.ts";
import type { Grant, Grants } from "../../core/grants.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Query } from "../../platform/db/db.ts";
import { recordCheck } from "../../platform/db/pool/budget.ts";
import { ACCOUNT_ADMIN, builtInRoles } from "../builtin.ts";
import { compile } from "./compile.ts";
import { permissions } from "./permission.ts";
import { problem } from "../problems.ts";
import { findServiceAccountGrants, findUserGrants, type GrantRow } from "../store/grants.ts";

/** Throws `access.beyond_own` unless the actor holds everything that the grants give. */
export function preventEscalation(actor: Actor, given: Grants): void {
  if (actor.kind === "system") return;
  const own = actor.kind === "user" || actor.kind === "service_account" ? actor.grants : [];
  const [missing] = missingOf(own, given);
  if (missing !== undefined) throw problem("access.beyond_own", [missing]);
  recordCheck(actor, given, (current) => holdsAll(current, given));
}

/** Whether `own` contains everything that `given` grants. */
export const holdsAll = (own: Grants, given: Grants): boolean => missingOf(own, given).next().done === true;

/** Whether `own` contains the permission everywhere that `given` grants it. */
export const holdsEach = (own: Grants, given: Grants, permission: string): boolean =>
  given.every((grant) => !grant.permissions.has(permission) || covers(own, grant, permission));

function* missingOf(own: Grants, given: Grants): Generator<string, undefined> {
  for (const grant of given)
    for (const permission of grant.permissions) if (!covers(own, grant, permission)) yield permission;
}

type Store = { readonly query: Query };

/**
 * Throws `access.beyond_own` unless the actor holds everything that the other account holds. Required for every way to
 * act as that account.
 */
export type PreventEscalationTo = (db: Store, actor: Actor, id: Uuid) => Promise<void>;

/** Reads the grants from the database: cached ones may miss a recent assignment of another replica. */
const preventEscalationWith =
  (find: (db: Store, accountId: Uuid, id: Uuid) => Promise<readonly GrantRow[]>): PreventEscalationTo =>
  async (db, actor, id) =>
    preventEscalation(actor, compile(await find(db, actor.accountId, id)));

/** For a service account: required to issue a token that acts as it. */
export const preventEscalationToServiceAccount = preventEscalationWith(findServiceAccountGrants);

/** For a user: required for every way to sign in as that user. */
export const preventEscalationToUser = preventEscalationWith(findUserGrants);

const EVERYTHING: Grants = [
  {
    scope: {},
    children: true,
    permissions: builtInRoles.get(ACCOUNT_ADMIN)?.permissions ?? new Set(),
    resources: "all",
  },
];

/**
 * Throws `access.beyond_own` unless the actor holds all permissions: required for a credential that can act as any
 * account.
 */
export type RequireAllPermissions = (actor: Actor) => void;

export const requireAllPermissions: RequireAllPermissions = (actor) => preventEscalation(actor, EVERYTHING);

function covers(own: Grants, given: Grant, permission: string): boolean {
  const type = permissions.get(permission)?.resourceType ?? "";
  const matching = own.filter((one) => one.permissions.has(permission) && coversScope(one, given));
  const wanted = given.resources === "all" ? "all" : given.resources.get(type);
  // The grant gives nothing on types that it does not name.
  if (wanted === undefined) return true;
  const isWhole = matching.some((one) => one.resources === "all" || one.resources.get(type) === "all");
  if (isWhole || wanted === "all") return isWhole;
  return [...wanted].every((identifier) =>
    matching.some(
      (one) => one.resources !== "all" && (one.resources.get(type) as ReadonlySet<string>)?.has(identifier),
    ),
  );
}

/** Whether the outer grant covers the scope of the inner one. */
function coversScope({ scope: outer, children }: Grant, { scope: inner, children: below }: Grant): boolean {
  const isSame = outer.orgIdentifier === inner.orgIdentifier && outer.projectIdentifier === inner.projectIdentifier;
  if (isSame) return children || !below || inner.projectIdentifier !== undefined;
  if (!children || outer.projectIdentifier !== undefined) return false;
  return outer.orgIdentifier === undefined || outer.orgIdentifier === inner.orgIdentifier;
}
