/** Resolves the principal, the role and the resource group that a new role assignment names. */
import type { Actor } from "../../core/actor.ts";
import { fromWire, toWire, type Uuid } from "../../core/ids.ts";
import type { Place } from "../../core/reference.ts";
import type { Tx } from "../../platform/db/db.ts";
import { builtInGroups, builtInRoles } from "../builtin.ts";
import { compile } from "../grants/compile.ts";
import { preventEscalation } from "../grants/escalation.ts";
import { levelOf, type ScopeLevel } from "../grants/permission.ts";
import { problem } from "../problems.ts";
import { findEnteredGrants, type GrantRow } from "../store/grants.ts";
import { findPeople } from "../store/members.ts";
import { findResourceGroup } from "../store/resource-groups.ts";
import { findRole } from "../store/roles.ts";
import { findGroup } from "../store/user-groups.ts";
import { isBuiltIn } from "../user-groups/user-group.ts";
import type { Assignment, NewAssignment } from "./assignment.ts";
import type { AssignmentDeps } from "./deps.ts";

type ResolveDeps = Pick<AssignmentDeps, "findServiceAccount">;

type AssignmentRequest = {
  readonly actor: Actor;
  readonly input: NewAssignment;
  readonly id: Uuid;
  readonly at: number;
};

/**
 * Returns the assignment that `input` describes. Locks the role and the resource group against changes. Throws
 * `access.no_role`, `access.no_resource_group`, `access.no_person`, `access.no_group`, `access.cannot_assign`, and
 * `access.beyond_own` if the principal would get more than the actor holds.
 */
export async function resolveAssignment(
  tx: Tx,
  deps: ResolveDeps,
  { actor, input, id, at }: AssignmentRequest,
): Promise<Assignment> {
  const { orgIdentifier, projectIdentifier, disabled } = input;
  const { grants: holds, ...role } = await resolveRole(tx, actor.accountId, input);
  const { grants: over, ...resourceGroup } = await resolveResourceGroup(tx, actor.accountId, input);
  preventEscalation(
    actor,
    compile([{ org: orgIdentifier, project: projectIdentifier, ...holds, ...over } as GrantRow]),
  );
  const principal = await resolvePrincipal(tx, deps, actor.accountId, input);
  // A first role makes the principal one of all users here, with everything that these hold.
  if (principal.type !== "SERVICE_ACCOUNT" && principal.id !== null)
    preventEscalation(actor, compile(await findEnteredGrants(tx, actor.accountId, { id: principal.id, place: input })));
  return {
    id,
    orgIdentifier,
    projectIdentifier,
    identifier: input.identifier ?? `role_assignment_${toWire(id)}`,
    principal,
    role,
    resourceGroup,
    disabled,
    createdAt: at,
    updatedAt: at,
  };
}

/** The place of a level, as seen from a place at or below it; undefined if the level is below. */
export function placeAt(level: ScopeLevel, { orgIdentifier, projectIdentifier }: Place): Place | undefined {
  if (level === "account") return { orgIdentifier: null, projectIdentifier: null };
  if (level === "organization") return orgIdentifier === null ? undefined : { orgIdentifier, projectIdentifier: null };
  return projectIdentifier === null ? undefined : { orgIdentifier, projectIdentifier };
}

const cannotAssign = (why: string): Error => problem("access.cannot_assign", [why]);

function placeOfNamed(level: ScopeLevel | undefined, at: Place, what: string): Place & { readonly level: ScopeLevel } {
  const named = level ?? levelOf(at);
  const place = placeAt(named, at);
  if (!place) throw cannotAssign(`${what} of the ${named} cannot be assigned above it.`);
  return { ...place, level: named };
}

async function resolvePrincipal(
  tx: Tx,
  deps: ResolveDeps,
  accountId: Uuid,
  input: NewAssignment,
): Promise<Assignment["principal"]> {
  const { type, identifier, level } = input.principal;
  if (type === "USER") {
    const id = fromWire(identifier);
    const [found] = id ? await findPeople(tx, accountId, [id]) : [];
    if (!found) throw problem("access.no_person", [identifier.slice(0, 64)]);
    return { type, id: found.id, identifier, level: "account" };
  }
  const place = placeOfNamed(level, input, "A principal");
  const key = { orgIdentifier: place.orgIdentifier, projectIdentifier: place.projectIdentifier, identifier };
  if (type === "USER_GROUP" && isBuiltIn(identifier)) {
    if (identifier !== `_${place.level}_all_users`) throw problem("access.no_group", [identifier]);
    return { type, id: null, identifier, level: place.level };
  }
  if (type === "USER_GROUP") {
    const group = await findGroup(tx, accountId, key);
    if (!group) throw problem("access.no_group", [identifier]);
    return { type, id: group.id, identifier, level: place.level };
  }
  const account = await deps.findServiceAccount(tx, accountId, key);
  if (!account) throw cannotAssign(`Service account [${identifier}] not found.`);
  return { type, id: account.id, identifier, level: place.level };
}

type Resolved<T> = T & { readonly grants: Partial<GrantRow> };

async function resolveRole(
  tx: Tx,
  accountId: Uuid,
  { role, ...at }: NewAssignment,
): Promise<Resolved<Assignment["role"]>> {
  const { identifier } = role;
  const level = levelOf(at);
  const builtIn = builtInRoles.get(identifier);
  if (builtIn) {
    if (!builtIn.levels.includes(level)) throw cannotAssign(`Role [${identifier}] is none of this level.`);
    return { identifier, level, id: null, grants: { role: identifier, permissions: null } };
  }
  const place = placeOfNamed(role.level, at, "A role");
  const found = await findRole(tx, accountId, { key: { ...place, identifier }, lock: "for share" });
  if (!found) throw problem("access.no_role", [identifier]);
  if (!found.levels.includes(level)) throw cannotAssign(`Role [${identifier}] cannot be assigned at this level.`);
  return { identifier, level: place.level, id: found.id, grants: { role: identifier, permissions: found.permissions } };
}

async function resolveResourceGroup(
  tx: Tx,
  accountId: Uuid,
  { resourceGroup: identifier, orgIdentifier, projectIdentifier }: NewAssignment,
): Promise<Resolved<Assignment["resourceGroup"]>> {
  const builtIn = builtInGroups.get(identifier);
  if (builtIn) {
    if (!builtIn.levels.includes(levelOf({ orgIdentifier, projectIdentifier })))
      throw cannotAssign(`Resource group [${identifier}] is none of this level.`);
    return { identifier, id: null, grants: { resourceGroup: identifier, included: null } };
  }
  const found = await findResourceGroup(tx, accountId, {
    key: { orgIdentifier, projectIdentifier, identifier },
    lock: "for share",
  });
  if (!found) throw problem("access.no_resource_group", [identifier]);
  const { id, included, everyResource, resources } = found;
  return { identifier, id, grants: { resourceGroup: identifier, included, everyResource, resources } };
}
