import type { Actor } from "../../../core/actor.ts";
import { fromWire, type Uuid } from "../../../core/ids.ts";
import { scopeOf, type Place } from "../../../core/reference.ts";
import type { Db } from "../../../platform/db/db.ts";
import type { FindServiceAccount } from "../../assignments/deps.ts";
import { placeAt } from "../../assignments/resolve.ts";
import type { PermissionFacts, ScopeLevel } from "../../grants/permission.ts";
import { authorize, permitsWith } from "../../grants/permits.ts";
import { compile } from "../../grants/compile.ts";
import type { RequireScope } from "../../places.ts";
import { problem } from "../../problems.ts";
import { findNamedGrants, type NamedGrantRow } from "../../store/grants.ts";
import { findPeople } from "../../store/members.ts";
import { findGroup } from "../../store/user-groups.ts";
import { askedPermissions, compileEach, extentOf, placesAround, type Extent } from "./extent.ts";
import { visiblePlaces } from "./list.ts";

type Deps = {
  readonly db: Db;
  readonly requireScope: RequireScope;
  readonly findServiceAccount: FindServiceAccount;
};

/** A user by id, a service account by id or identifier, a group by identifier; the last two at the level, or here. */
export type NamedPrincipal = {
  readonly type: "USER" | "USER_GROUP" | "SERVICE_ACCOUNT";
  readonly identifier: string;
  readonly level: ScopeLevel | undefined;
};

export type ExplanationRequest = {
  readonly permission: string;
  readonly resourceIdentifier: string | undefined;
  /** The caller if it is missing. */
  readonly principal: NamedPrincipal | undefined;
};

/** An assignment whose role has the permission. */
export type Reason = NamedGrantRow & { readonly extent: Extent };

/**
 * `isPermitted` is null if nothing that the actor may see permits it, and assignments of hidden levels might.
 * `reasons` are also assignments with the permission and without effect on what is asked about.
 */
export type Explanation = {
  readonly facts: PermissionFacts;
  readonly isPermitted: boolean | null;
  readonly hidden: readonly ScopeLevel[];
  readonly reasons: readonly Reason[];
};

/**
 * Tells which role assignments permit something to a principal. Everyone may ask about themselves. Throws
 * `access.not_permitted`, `access.no_person`, `access.no_group`, `access.no_service_account`, what RequireScope and
 * askedPermissions throw.
 */
export const explainPermission =
  (deps: Deps) =>
  async (actor: Actor, place: Place, asked: ExplanationRequest): Promise<Explanation> => {
    const { accountId } = actor;
    const scope = scopeOf(accountId, place);
    const own = ownPrincipal(actor);
    const isOwn = asked.principal === undefined || isSame(asked.principal, own);
    if (!isOwn) {
      authorize(actor, "core_role_view", scope);
      await deps.requireScope(actor, place);
    }
    const [facts] = askedPermissions(place, { permission: asked.permission, resourceType: undefined });
    if (!facts) throw problem("access.no_permission", [asked.permission]);
    const principal = isOwn ? own : asked.principal && (await findPrincipal(deps, accountId, place, asked.principal));
    const { visible, hidden } = isOwn ? { visible: placesAround(place), hidden: [] } : visiblePlaces(actor, place);
    const rows = principal ? await findNamedGrants(deps.db, accountId, principal) : [];
    const here = rows.filter(({ org, project }) =>
      visible.some((one) => one.orgIdentifier === org && one.projectIdentifier === project),
    );
    const target = { scope, resourceIdentifier: asked.resourceIdentifier };
    const grants = compileEach(here);
    const reasons = here.flatMap((row, nth): Reason[] => {
      const own = grants[nth] ?? [];
      if (!own.some(({ permissions: held }) => held.has(facts.identifier))) return [];
      return [{ ...row, extent: extentOf(own, facts.identifier, target) }];
    });
    const isPermitted = permitsWith(compile(here), facts.identifier, scope, asked.resourceIdentifier);
    return { facts, isPermitted: isPermitted || hidden.length === 0 ? isPermitted : null, hidden, reasons };
  };

export type ExplainPermission = ReturnType<typeof explainPermission>;

type Principal = { readonly type: NamedPrincipal["type"]; readonly id: Uuid };

/** Undefined for actors that hold no grants of their own. */
const ownPrincipal = (actor: Actor): Principal | undefined =>
  actor.kind === "user"
    ? { type: "USER", id: actor.id }
    : actor.kind === "service_account"
      ? { type: "SERVICE_ACCOUNT", id: actor.id }
      : undefined;

const isSame = ({ type, identifier }: NamedPrincipal, own: Principal | undefined): boolean =>
  own !== undefined && type === own.type && fromWire(identifier) === own.id;

async function findPrincipal(
  { db, findServiceAccount }: Deps,
  accountId: Uuid,
  place: Place,
  { type, identifier, level }: NamedPrincipal,
): Promise<Principal> {
  const id = fromWire(identifier);
  if (type === "USER") {
    const [found] = id ? await findPeople(db, accountId, [id]) : [];
    if (!found) throw problem("access.no_person", [identifier]);
    return { type, id: found.id };
  }
  // A level below the scope has no place.
  const at = level === undefined ? place : placeAt(level, place);
  const key = at && { orgIdentifier: at.orgIdentifier, projectIdentifier: at.projectIdentifier, identifier };
  if (type === "USER_GROUP") {
    const group = key && (await findGroup(db, accountId, key));
    if (!group) throw problem("access.no_group", [identifier]);
    return { type, id: group.id };
  }
  const account = key && (await findServiceAccount(db, accountId, key));
  if (account) return { type, id: account.id };
  // The id of a service account may be that of another scope.
  if (!id) throw problem("access.no_service_account", [identifier]);
  return { type, id };
}
