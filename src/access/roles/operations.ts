/** Custom roles. Built-in ones exist in every account and cannot be changed. */
import type { Audit } from "../../audit/index.ts";
import type { Actor } from "../../core/actor.ts";
import type { Clock } from "../../core/clock.ts";
import type { NewId, Uuid } from "../../core/ids.ts";
import type { SortOrder } from "../../core/page.ts";
import { commonProblem } from "../../core/problems.ts";
import { scopeOf, within, type Place } from "../../core/reference.ts";
import type { Db, Tx } from "../../platform/db/db.ts";
import { goneToo } from "../../platform/removed-reference.ts";
import { compile } from "../grants/compile.ts";
import { preventEscalation } from "../grants/escalation.ts";
import type { Dereference } from "../references/dereference.ts";
import { levelOf, permissions as known } from "../grants/permission.ts";
import { authorize, seen } from "../grants/permits.ts";
import { requireSame, requireSeen, type RequireScope } from "../places.ts";
import { problem } from "../problems.ts";
import { countUses } from "../store/assignments.ts";
import { findGrantsBy } from "../store/grants.ts";
import { deleteRole, findRole, insertRole, listRoles, updateRole } from "../store/roles.ts";
import { builtInRolesAt, type NewRole, type Role } from "./role.ts";

export type KeeperDeps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly requireScope: RequireScope;
  readonly dereference: Dereference;
  /** Called after a change of grants. */
  readonly invalidateGrants: (tx: Tx, accountId: Uuid) => void;
};
export type Key = Place & { readonly identifier: string };

const isBuiltIn = (key: Key): Role | undefined =>
  builtInRolesAt(key).find(({ identifier }) => identifier === key.identifier);

/** Throws unless the permissions exist and are available at the levels of the role. */
function check({ identifier, permissions, levels, ...place }: NewRole): void {
  if (identifier.startsWith("_")) throw problem("access.reserved_identifier", [identifier]);
  const own = ["account", "organization", "project"].indexOf(levelOf(place));
  if (levels.some((level) => ["account", "organization", "project"].indexOf(level) < own))
    throw problem("access.level_above", [identifier]);
  for (const permission of permissions) {
    const facts = known.get(permission);
    if (!facts) throw problem("access.no_permission", [permission.slice(0, 128)]);
    // A permission of an account role that is available only below is useful where the role is assigned below.
    if (!levels.some((level) => facts.levels.includes(level)))
      throw problem("access.wrong_level", [permission, levels.join(", ")]);
  }
}

const view = ({ name, description, tags, permissions, levels }: Role) => ({
  name,
  description,
  tags,
  permissions: permissions.toSorted(),
  levels,
});

export const createRoles = (deps: KeeperDeps) => ({
  /** Throws what RequireScope throws, `access.duplicate` and what `check` throws. */
  async create(actor: Actor, input: NewRole): Promise<Role> {
    const { accountId } = actor;
    authorize(actor, "core_role_edit", scopeOf(accountId, input), input.identifier);
    await deps.requireScope(actor, input);
    check(input);
    const at = deps.clock.now();
    const role = { ...input, id: deps.newId(), createdAt: at, updatedAt: at };
    await deps.db.transaction(async (tx) => {
      if (!(await insertRole(tx, accountId, role))) throw problem("access.duplicate", ["role", role.identifier]);
      await record(tx, deps, actor, "create", { role, after: view(role) });
    });
    return role;
  },

  /** Changes a role. The actor must hold its additional permissions in every scope where it is assigned. */
  async update(actor: Actor, identifier: string, input: NewRole): Promise<Role> {
    const { accountId } = actor;
    authorize(actor, "core_role_edit", scopeOf(accountId, input), identifier);
    requireSame(input.identifier, identifier);
    check(input);
    return deps.db.transaction(async (tx) => {
      const now = await findRole(tx, accountId, input, "for update");
      if (!now) throw problem("access.no_role", [input.identifier]);
      const role = { ...now, ...input, updatedAt: deps.clock.now() };
      const more = role.permissions.filter((permission) => !now.permissions.includes(permission));
      const uses = more.length === 0 ? [] : await findGrantsBy(tx, accountId, "role_id", now.id);
      preventEscalation(actor, compile(uses.map((use) => ({ ...use, permissions: more }))));
      await updateRole(tx, accountId, role);
      await record(tx, deps, actor, "update", { role, before: view(now), after: view(role) });
      deps.invalidateGrants(tx, accountId);
      return role;
    });
  },

  /** Throws `core.referenced` while it is assigned. */
  async delete(actor: Actor, key: Key): Promise<Role> {
    const { accountId } = actor;
    authorize(actor, "core_role_delete", scopeOf(accountId, key), key.identifier);
    if (isBuiltIn(key)) throw problem("access.reserved_identifier", [key.identifier]);
    return deps.db.transaction(async (tx) => {
      const role = await findRole(tx, accountId, key, "for update");
      if (!role) throw problem("access.no_role", [key.identifier]);
      const uses = await countUses(tx, accountId, "role_id", role.id);
      if (uses > 0) throw commonProblem("core.referenced", ["Role", role.identifier, `${uses} role assignments`]);
      await deleteRole(tx, accountId, role.id);
      const gone = await deps.dereference(tx, accountId, role, { ROLE: role.identifier });
      await record(tx, deps, actor, "delete", { role, before: { ...goneToo(gone), ...view(role) } });
      return role;
    });
  },

  async get(actor: Actor, key: Key): Promise<Role> {
    authorize(actor, "core_role_view", scopeOf(actor.accountId, key), key.identifier);
    const role = isBuiltIn(key) ?? (await findRole(deps.db, actor.accountId, key));
    if (!role) throw problem("access.no_role", [key.identifier]);
    return role;
  },

  /** Built-in roles of the scope first, then custom ones by name or in the given order. */
  async list(actor: Actor, place: Place, { searchTerm = "", order }: Listing = {}): Promise<readonly Role[]> {
    const visible = seen(actor, "core_role_view", scopeOf(actor.accountId, place));
    requireSeen(actor, "core_role_view", place, visible);
    await deps.requireScope(actor, place);
    const all = [...builtInRolesAt(place), ...(await listRoles(deps.db, actor.accountId, place, order))];
    const term = searchTerm.toLowerCase();
    return all.filter(
      ({ identifier, name }) =>
        (visible === "all" || visible.has(identifier)) &&
        [identifier, name].some((text) => text.toLowerCase().includes(term)),
    );
  },
});

type Listing = { readonly searchTerm?: string | undefined; readonly order?: readonly SortOrder[] | undefined };

export type Roles = ReturnType<typeof createRoles>;

type Changed = {
  readonly role: Role;
  readonly before?: ReturnType<typeof view>;
  readonly after?: ReturnType<typeof view>;
};

function record(tx: Tx, { audit }: KeeperDeps, actor: Actor, verb: string, { role, before, after }: Changed) {
  const scope = within(role);
  const what = { operation: `role.${verb}`, resourceType: "ROLE", resourceId: role.identifier, scope };
  return audit.record(tx, actor, { ...what, before, after });
}
