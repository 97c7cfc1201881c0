/** Role assignments: a role over a resource group for a principal. */
import type { Actor } from "../../core/actor.ts";
import { fromWire, toWire, type Uuid } from "../../core/ids.ts";
import type { Page, Window } from "../../core/page.ts";
import { scopeOf, within, type Place, type Referred } from "../../core/reference.ts";
import type { Query, Tx } from "../../platform/db/db.ts";
import { builtInGroups, builtInRoles } from "../builtin.ts";
import { compile } from "../grants/compile.ts";
import { preventEscalation } from "../grants/escalation.ts";
import type { KeepAdministrator } from "../administrators/keep-administrator.ts";
import { levelOf, type Permission, type ScopeLevel } from "../grants/permission.ts";
import { authorize } from "../grants/permits.ts";
import { problem } from "../problems.ts";
import type { WriteDeps } from "../deps.ts";
import {
  countAssignments,
  deleteAssignment,
  findAssignment,
  holdAll,
  insertAssignment,
  listAssignments,
  type AssignmentFilter,
} from "../store/assignments.ts";
import { findEnteredGrants, type GrantRow } from "../store/grants.ts";
import { findPeople } from "../store/members.ts";
import { findResourceGroup } from "../store/resource-groups.ts";
import { findRole } from "../store/roles.ts";
import { findGroup } from "../store/user-groups.ts";
import { isBuiltIn } from "../user-groups/user-group.ts";
import type { Assignment, PrincipalType } from "./assignment.ts";

export type NewAssignment = Place & {
  /** Generated if it is missing. */
  readonly identifier: string | undefined;
  readonly principal: {
    readonly type: PrincipalType;
    readonly identifier: string;
    readonly level: ScopeLevel | undefined;
  };
  readonly role: { readonly identifier: string; readonly level: ScopeLevel | undefined };
  readonly resourceGroup: string;
  readonly disabled: boolean;
};

/** Finds a service account. The identity slice provides it. */
export type FindServiceAccount = (
  db: { readonly query: Query },
  accountId: Uuid,
  key: Referred,
) => Promise<{ readonly id: Uuid } | undefined>;

type Deps = WriteDeps & {
  readonly keepAdministrator: KeepAdministrator;
  readonly findServiceAccount: FindServiceAccount;
};

/**
 * The permission to assign roles, by type of principal: administrators of users, groups or service accounts also assign
 * their roles, up to what they hold.
 */
const MANAGES: Readonly<Record<PrincipalType, Permission>> = {
  USER: "core_user_manage",
  USER_GROUP: "core_usergroup_manage",
  SERVICE_ACCOUNT: "core_serviceaccount_edit",
};

const cannot = (why: string): Error => problem("access.cannot_assign", [why]);

/** The place of a level, as seen from a place at or below it; undefined if the level is below. */
function placeAt(level: ScopeLevel, { orgIdentifier, projectIdentifier }: Place): Place | undefined {
  if (level === "account") return { orgIdentifier: null, projectIdentifier: null };
  if (level === "organization") return orgIdentifier === null ? undefined : { orgIdentifier, projectIdentifier: null };
  return projectIdentifier === null ? undefined : { orgIdentifier, projectIdentifier };
}

function placeOfNamed(level: ScopeLevel | undefined, at: Place, what: string): Place & { readonly level: ScopeLevel } {
  const named = level ?? levelOf(at);
  const place = placeAt(named, at);
  if (!place) throw cannot(`${what} of the ${named} cannot be assigned above it.`);
  return { ...place, level: named };
}

async function principalOf(
  tx: Tx,
  deps: Deps,
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
  if (!account) throw cannot(`Service account [${identifier}] not found.`);
  return { type, id: account.id, identifier, level: place.level };
}

type Resolved<T> = T & { readonly grants: Partial<GrantRow> };

async function roleOf(tx: Tx, accountId: Uuid, { role, ...at }: NewAssignment): Promise<Resolved<Assignment["role"]>> {
  const { identifier } = role;
  const level = levelOf(at);
  const builtIn = builtInRoles.get(identifier);
  if (builtIn) {
    if (!builtIn.levels.includes(level)) throw cannot(`Role [${identifier}] is none of this level.`);
    return { identifier, level, id: null, grants: { role: identifier, permissions: null } };
  }
  const place = placeOfNamed(role.level, at, "A role");
  const found = await findRole(tx, accountId, { ...place, identifier }, "for share");
  if (!found) throw problem("access.no_role", [identifier]);
  if (!found.levels.includes(level)) throw cannot(`Role [${identifier}] cannot be assigned at this level.`);
  return { identifier, level: place.level, id: found.id, grants: { role: identifier, permissions: found.permissions } };
}

async function groupOf(
  tx: Tx,
  accountId: Uuid,
  { resourceGroup: identifier, orgIdentifier, projectIdentifier }: NewAssignment,
): Promise<Resolved<Assignment["resourceGroup"]>> {
  const builtIn = builtInGroups.get(identifier);
  if (builtIn) {
    if (!builtIn.levels.includes(levelOf({ orgIdentifier, projectIdentifier })))
      throw cannot(`Resource group [${identifier}] is none of this level.`);
    return { identifier, id: null, grants: { resourceGroup: identifier, included: null } };
  }
  const found = await findResourceGroup(tx, accountId, { orgIdentifier, projectIdentifier, identifier }, "for share");
  if (!found) throw problem("access.no_resource_group", [identifier]);
  const { id, included, everyResource, resources } = found;
  return { identifier, id, grants: { resourceGroup: identifier, included, everyResource, resources } };
}

/**
 * Locks roles before resource groups, in the same order as deletions of roles do, so that transactions do not deadlock.
 */
async function holdNamed(tx: Tx, accountId: Uuid, inputs: readonly NewAssignment[]): Promise<void> {
  const roles = inputs.flatMap(({ role: { identifier, level }, ...at }) => {
    const place = placeAt(level ?? levelOf(at), at);
    return place ? [{ ...place, identifier }] : [];
  });
  await holdAll(tx, "roles", accountId, roles);
  const groups = inputs.map(({ resourceGroup: identifier, ...at }) => ({ ...at, identifier }));
  await holdAll(tx, "resource_groups", accountId, groups);
}

const view = ({ principal, role, resourceGroup, disabled }: Assignment) => ({
  principal: { type: principal.type, identifier: principal.identifier, level: principal.level },
  role: role.identifier,
  resourceGroup: resourceGroup.identifier,
  disabled,
});

export type AssignmentWindow = Window & { readonly filter: AssignmentFilter };

export function createAssignments(deps: Deps) {
  const { db } = deps;

  /** Creates all or none. Throws `access.beyond_own` if a principal would get more than the actor holds. */
  async function create(actor: Actor, inputs: readonly NewAssignment[]): Promise<readonly Assignment[]> {
    for (const input of inputs) authorize(actor, MANAGES[input.principal.type], scopeOf(actor.accountId, input));
    for (const input of inputs) await deps.requireScope(actor, input);
    return db.transaction(async (tx) => {
      if (inputs.length > 1) await holdNamed(tx, actor.accountId, inputs);
      const made: Assignment[] = [];
      for (const input of inputs) made.push(await createOne(tx, actor, input));
      deps.invalidateGrants(tx, actor.accountId);
      return made;
    });
  }

  async function createOne(tx: Tx, actor: Actor, input: NewAssignment): Promise<Assignment> {
    const { accountId } = actor;
    const [id, at] = [deps.newId(), deps.clock.now()];
    const assignment = await resolved(tx, actor, input, { id, at });
    if (!(await insertAssignment(tx, accountId, assignment))) throw problem("access.assigned_already");
    await record(tx, actor, "create", { assignment, after: view(assignment) });
    return assignment;
  }

  async function resolved(
    tx: Tx,
    actor: Actor,
    input: NewAssignment,
    { id, at }: { readonly id: Uuid; readonly at: number },
  ): Promise<Assignment> {
    const { orgIdentifier, projectIdentifier, disabled } = input;
    const { grants: holds, ...role } = await roleOf(tx, actor.accountId, input);
    const { grants: over, ...resourceGroup } = await groupOf(tx, actor.accountId, input);
    preventEscalation(
      actor,
      compile([{ org: orgIdentifier, project: projectIdentifier, ...holds, ...over } as GrantRow]),
    );
    const principal = await principalOf(tx, deps, actor.accountId, input);
    // A first role makes the principal one of all users here, with everything that these hold.
    if (principal.type !== "SERVICE_ACCOUNT" && principal.id !== null)
      preventEscalation(actor, compile(await findEnteredGrants(tx, actor.accountId, principal.id, input)));
    return {
      ...{ id, orgIdentifier, projectIdentifier },
      identifier: input.identifier ?? `role_assignment_${toWire(id)}`,
      principal,
      ...{ role, resourceGroup, disabled, createdAt: at, updatedAt: at },
    };
  }

  function record(tx: Tx, actor: Actor, verb: string, what: { assignment: Assignment; before?: View; after?: View }) {
    const scope = within(what.assignment);
    return deps.audit.record(tx, actor, {
      operation: `role-assignment.${verb}`,
      resourceType: "ROLE_ASSIGNMENT",
      resourceId: what.assignment.identifier,
      scope,
      before: what.before,
      after: what.after,
    });
  }

  return {
    create,

    /** Throws what creating would throw. */
    async validate(actor: Actor, input: NewAssignment): Promise<void> {
      authorize(actor, MANAGES[input.principal.type], scopeOf(actor.accountId, input));
      await deps.requireScope(actor, input);
      await db.transaction(async (tx) => {
        await resolved(tx, actor, input, { id: deps.newId(), at: deps.clock.now() });
      });
    },

    /** Throws `access.no_assignment`, `access.last_administrator`. */
    async delete(actor: Actor, key: Referred): Promise<Assignment> {
      const { accountId } = actor;
      const scope = scopeOf(accountId, key);
      // The type of the principal decides which of the three permissions is required. An actor without any of them
      // learns nothing.
      const assignment = await findAssignment(db, accountId, key);
      authorize(actor, MANAGES[assignment?.principal.type ?? "USER"], scope);
      if (!assignment) throw problem("access.no_assignment", [key.identifier]);
      await db.transaction(async (tx) => {
        if (!(await deleteAssignment(tx, accountId, assignment.id)))
          throw problem("access.no_assignment", [key.identifier]);
        await record(tx, actor, "delete", { assignment, before: view(assignment) });
        deps.invalidateGrants(tx, accountId);
        await deps.keepAdministrator(tx, accountId);
      });
      return assignment;
    },

    async get(actor: Actor, key: Referred): Promise<Assignment> {
      authorize(actor, "core_role_view", scopeOf(actor.accountId, key));
      const assignment = await findAssignment(db, actor.accountId, key);
      if (!assignment) throw problem("access.no_assignment", [key.identifier]);
      return assignment;
    },

    async list(actor: Actor, place: Place, { filter, ...window }: AssignmentWindow): Promise<Page<Assignment>> {
      const { accountId } = actor;
      authorize(actor, "core_role_view", scopeOf(accountId, place));
      await deps.requireScope(actor, place);
      const items = await listAssignments(db, accountId, place, { filter, ...window });
      return { items, ...window, total: () => countAssignments(db, accountId, place, filter) };
    },
  };
}

type View = ReturnType<typeof view>;
export type Assignments = ReturnType<typeof createAssignments>;
