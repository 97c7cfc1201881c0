/**
 * Permission checks. They use the grants of the actor, so a check costs a few map look-ups and is synchronous. Grants
 * add up. A grant in a scope covers child scopes only if its resource group includes them. What passes is recorded,
 * because a slow request repeats it before a commit.
 */
import type { Actor } from "../../core/actor.ts";
import type { Grant, Grants } from "../../core/grants.ts";
import type { Refusal } from "../../core/refused.ts";
import type { Scope } from "../../core/scope.ts";
import { recordCheck, type PassesWith } from "../../platform/db/pool/budget.ts";
import { holdsEach } from "./escalation.ts";
import { permissions, type Permission } from "./permission.ts";
import { problem } from "../problems.ts";

/**
 * Throws `access.not_permitted` unless the actor holds the permission in the scope, and on the resource if one is
 * named. A permission on some resources of a scope is none on the scope in general.
 */
export type Authorize = (actor: Actor, permission: Permission, scope: Scope, identifier?: string) => void;

/** The same check as a boolean, for responses that depend on permissions. */
export type Permits = (actor: Actor, permission: Permission, scope: Scope, identifier?: string) => boolean;

type Within = Omit<Scope, "accountId">;

/**
 * False for a scope of another account. Otherwise the system may do everything, and a delegate nothing. A check that
 * passes is recorded, and repeated before a commit of the request (`recordCheck`).
 */
export const permits: Permits = (actor, permission, scope, identifier) => {
  const grants = actor.accountId === scope.accountId && grantsOf(actor);
  if (typeof grants === "boolean") return grants;
  if (!permitsWith(grants, permission, scope, identifier)) return false;
  const { orgIdentifier, projectIdentifier } = scope;
  const key = `permits ${permission} ${orgIdentifier} ${projectIdentifier} ${identifier}`;
  recordCheck(actor, key, (current) => permitsWith(current, permission, scope, identifier));
  return true;
};

/**
 * The same check for operations that report a resource as unknown: undefined if the actor holds the permission, else
 * the refusal for the problem, so that the audit trail records the reason.
 */
export function refusalOf(
  actor: Actor,
  permission: Permission,
  scope: Scope,
  identifier?: string,
): Refusal | undefined {
  if (permits(actor, permission, scope, identifier)) return undefined;
  const { accountId: _, ...within } = scope;
  return { denied: { permission, scope: within, identifier: identifier ?? ownIdentifier(typeOf(permission), within) } };
}

/** The same check for grants without an actor. */
export const permitsWith = (grants: Grants, permission: Permission, scope: Scope, identifier?: string): boolean =>
  grants.some((grant) => gives(grant, permission, scope, identifier));

/** The audit trail records what it throws as a refusal. */
export const authorize: Authorize = (actor, permission, scope, identifier) => {
  const refusal = refusalOf(actor, permission, scope, identifier);
  if (refusal) throw notPermitted(actor, permission, refusal);
};

/** Throws `access.not_permitted` if the actor holds the permission in no scope. Called before a lookup by id. */
export const authorizeSomewhere = (actor: Actor, permission: Permission): void => {
  if (holdsSomewhere(actor, permission)) return;
  throw notPermitted(actor, permission, { denied: { permission, scope: {} } });
};

/** Whether the actor holds the permission in any scope, if only on one resource. */
export function holdsSomewhere(actor: Actor, permission: Permission): boolean {
  const grants = grantsOf(actor);
  if (typeof grants === "boolean") return grants;
  const holds: PassesWith = (some) => some.some((grant) => grant.permissions.has(permission));
  if (!holds(grants)) return false;
  recordCheck(actor, `holds ${permission}`, holds);
  return true;
}

/** Those resources of the scope that the actor holds the permission on. */
export function seen(actor: Actor, permission: Permission, scope: Scope): "all" | ReadonlySet<string> {
  if (actor.accountId !== scope.accountId) return new Set();
  const grants = grantsOf(actor);
  if (typeof grants === "boolean") return grants ? "all" : new Set();
  const found = seenWith(grants, permission, scope);
  recordCheck(actor, `seen ${permission} ${scope.orgIdentifier} ${scope.projectIdentifier}`, (current) => {
    const left = seenWith(current, permission, scope);
    return left === "all" || (found !== "all" && found.isSubsetOf(left));
  });
  return found;
}

/** The same for grants without an actor. */
export function seenWith(grants: Grants, permission: Permission, scope: Within): "all" | ReadonlySet<string> {
  const type = typeOf(permission);
  const found = new Set<string>();
  for (const grant of grants) {
    if (!grant.permissions.has(permission) || !holdsIn(grant, scope)) continue;
    const which = grant.resources === "all" ? "all" : grant.resources.get(type);
    if (which === "all") return "all";
    for (const identifier of which ?? []) found.add(identifier);
  }
  return found;
}

/** A scope in which an actor holds a permission; `identifiers` null: on all resources there. */
export type Reach = {
  readonly orgIdentifier: string | null;
  readonly projectIdentifier: string | null;
  readonly children: boolean;
  readonly identifiers: readonly string[] | null;
};

/** The scopes where the actor holds the permission, for lists over the whole account. */
export function reach(actor: Actor, permission: Permission): "all" | readonly Reach[] {
  const grants = grantsOf(actor);
  if (typeof grants === "boolean") return grants ? "all" : [];
  recordCheck(actor, `reach ${permission}`, (current) => holdsEach(current, grants, permission));
  const type = typeOf(permission);
  const found: Reach[] = [];
  for (const grant of grants) {
    const which = grant.resources === "all" ? "all" : grant.resources.get(type);
    if (!grant.permissions.has(permission) || which === undefined) continue;
    const { orgIdentifier = null, projectIdentifier = null } = grant.scope;
    const children = grant.children || holdsItself(type, grant.scope);
    if (which === "all" && grant.children && orgIdentifier === null) return "all";
    const identifiers = which === "all" ? null : [...which];
    found.push({ orgIdentifier, projectIdentifier, children, identifiers });
  }
  return found;
}

/**
 * Whether the type is that of the scope: an organization is a resource of the account, a project one of its
 * organization.
 */
const holdsItself = (type: string, { orgIdentifier, projectIdentifier }: Within): boolean =>
  (type === "ORGANIZATION" && orgIdentifier === undefined) ||
  (type === "PROJECT" && orgIdentifier !== undefined && projectIdentifier === undefined);

function gives(grant: Grant, permission: Permission, scope: Scope, identifier: string | undefined): boolean {
  if (!grant.permissions.has(permission)) return false;
  const type = typeOf(permission);
  const named = identifier ?? ownIdentifier(type, scope);
  const inside = holdsIn(grant, scope) || (named !== undefined && holdsIn(grant, around(type, scope)));
  if (!inside) return false;
  if (grant.resources === "all") return true;
  const which = grant.resources.get(type);
  return which === "all" || (which !== undefined && named !== undefined && which.has(named));
}

/** The identifier of an organization or project that is the scope. */
const ownIdentifier = (type: string, { orgIdentifier, projectIdentifier }: Within): string | undefined =>
  type === "ORGANIZATION" ? orgIdentifier : type === "PROJECT" ? projectIdentifier : undefined;

/** The parent of a scope that is itself the resource; the scope for other types. */
function around(type: string, scope: Within): Within {
  if (type === "ORGANIZATION") return {};
  return type === "PROJECT" && scope.orgIdentifier !== undefined ? { orgIdentifier: scope.orgIdentifier } : scope;
}

function holdsIn({ scope: at, children }: Grant, { orgIdentifier, projectIdentifier }: Within): boolean {
  if (at.orgIdentifier === undefined) return children || orgIdentifier === undefined;
  if (at.orgIdentifier !== orgIdentifier) return false;
  if (at.projectIdentifier === undefined) return children || projectIdentifier === undefined;
  return at.projectIdentifier === projectIdentifier;
}

/** The grants of users and service accounts; the answer for all other actors. */
function grantsOf(actor: Actor): Grants | boolean {
  switch (actor.kind) {
    case "user":
    case "service_account":
    case "trigger":
      return actor.grants;
    case "system":
      return true;
    case "delegate":
      return false;
  }
}

const typeOf = (permission: Permission): string => permissions.get(permission)?.resourceType ?? "";

const notPermitted = (actor: Actor, permission: Permission, refusal: Refusal): Error =>
  problem("access.not_permitted", [permission], {
    refusal,
    cause: `actor ${actor.kind === "system" ? "system" : actor.id} lacks ${permission}`,
  });
