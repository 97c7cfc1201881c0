/** An actor cannot grant more than they hold: otherwise an administrator of roles could take every role. */
import type { Actor } from "../../core/actor.ts";
import type { Grant, Grants } from "../../core/grants.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Store } from "../../platform/db/db.ts";
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
  missingOf(
    own,
    given.filter((grant) => grant.permissions.has(permission)),
    [permission],
  ).next().done === true;

/** Looks up own grants by scope, so that the work grows with the sum of both lists and not with their product. */
function* missingOf(own: Grants, given: Grants, only?: readonly string[]): Generator<string, undefined> {
  const byScope = Map.groupBy(own, ({ scope, children }) => keyOf(scope, children));
  for (const grant of given) {
    const around = coveringKeys(grant).flatMap((key) => byScope.get(key) ?? []);
    for (const permission of only ?? grant.permissions) if (!covers(around, grant, permission)) yield permission;
  }
}

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

/** Whether grants that cover the scope also cover the resources of the given grant. */
function covers(around: Grants, given: Grant, permission: string): boolean {
  const type = permissions.get(permission)?.resourceType ?? "";
  const wanted = resourcesOf(given, type);
  // The grant gives nothing on types that it does not name.
  if (wanted === undefined) return true;
  const isWhole = around.some((one) => one.permissions.has(permission) && resourcesOf(one, type) === "all");
  if (isWhole || wanted === "all") return isWhole;
  const found = around.filter((one) => one.permissions.has(permission)).map((one) => resourcesOf(one, type));
  return [...wanted].every((identifier) => found.some((some) => some !== "all" && some?.has(identifier)));
}

const resourcesOf = ({ resources }: Grant, type: string): "all" | ReadonlySet<string> | undefined =>
  resources === "all" ? "all" : resources.get(type);

const keyOf = ({ orgIdentifier, projectIdentifier }: Grant["scope"], children: boolean): string =>
  `${orgIdentifier ?? ""}/${projectIdentifier ?? ""}/${children}`;

/** The keys of the grants that cover the scope of this one: in it, and in the scopes above with their child scopes. */
function coveringKeys({ scope, children }: Grant): readonly string[] {
  const { orgIdentifier, projectIdentifier } = scope;
  const keys = [keyOf(scope, true)];
  if (!children || projectIdentifier !== undefined) keys.push(keyOf(scope, false));
  if (orgIdentifier !== undefined) keys.push(keyOf({}, true));
  if (orgIdentifier !== undefined && projectIdentifier !== undefined) keys.push(keyOf({ orgIdentifier }, true));
  return keys;
}
