/** Custom resource groups. Built-in ones exist in every account and cannot be changed. */
import type { Actor } from "../../core/actor.ts";
import { commonProblem } from "../../core/problems.ts";
import type { SortOrder } from "../../core/page.ts";
import { scopeOf, within, type Place, type Referred } from "../../core/reference.ts";
import type { Tx } from "../../platform/db/db.ts";
import { goneToo } from "../../platform/removed-reference.ts";
import { compile } from "../grants/compile.ts";
import { preventEscalation } from "../grants/escalation.ts";
import { authorize, seen } from "../grants/permits.ts";
import { requireSame, requireSeen } from "../places.ts";
import { problem } from "../problems.ts";
import type { WriteDeps } from "../deps.ts";
import { countUses } from "../store/assignments.ts";
import { findGrantsBy } from "../store/grants.ts";
import {
  deleteResourceGroup,
  findResourceGroup,
  insertResourceGroup,
  listResourceGroups,
  lockResourceGroups,
  updateResourceGroup,
} from "../store/resource-groups.ts";
import { builtInGroupsAt, checkGroup, type NewResourceGroup, type ResourceGroup } from "./resource-group.ts";

const PERMISSION = "core_resourcegroup_view";

const isBuiltIn = (key: Referred): ResourceGroup | undefined =>
  builtInGroupsAt(key).find(({ identifier }) => identifier === key.identifier);

function check(input: NewResourceGroup): void {
  if (input.identifier.startsWith("_")) throw problem("access.reserved_identifier", [input.identifier]);
  checkGroup(input);
}

const view = ({ name, description, color, tags, included, everyResource, resources }: ResourceGroup) => ({
  ...{ name, description, color, tags },
  ...{ included, everyResource, resources },
});

export type GroupFilter = {
  readonly searchTerm?: string | undefined;
  readonly identifiers?: readonly string[] | undefined;
  /** True: only built-in ones; false: only custom ones. */
  readonly platformManaged?: boolean | undefined;
  /** The order of custom groups. */
  readonly order?: readonly SortOrder[] | undefined;
};

export const createResourceGroups = (deps: WriteDeps) => ({
  /** Throws what RequireScope throws, `access.duplicate` and what `check` throws. */
  async create(actor: Actor, input: NewResourceGroup): Promise<ResourceGroup> {
    const { accountId } = actor;
    authorize(actor, "core_resourcegroup_edit", scopeOf(accountId, input), input.identifier);
    await deps.requireScope(actor, input);
    check(input);
    const at = deps.clock.now();
    const group = { ...input, id: deps.newId(), createdAt: at, updatedAt: at };
    await deps.db.transaction(async (tx) => {
      if (!(await insertResourceGroup(tx, accountId, group)))
        throw problem("access.duplicate", ["resource group", group.identifier]);
      await record(tx, deps, actor, "create", { group, after: view(group) });
    });
    return group;
  },

  /** Changes a group. If it is assigned, the actor must hold everything that its principals then get. */
  async update(actor: Actor, identifier: string, input: NewResourceGroup): Promise<ResourceGroup> {
    const { accountId } = actor;
    authorize(actor, "core_resourcegroup_edit", scopeOf(accountId, input), identifier);
    requireSame(input.identifier, identifier);
    check(input);
    return deps.db.transaction(async (tx) => {
      const now = await findResourceGroup(tx, accountId, input, "for update");
      if (!now) throw problem("access.no_resource_group", [input.identifier]);
      const group = { ...now, ...input, updatedAt: deps.clock.now() };
      const uses = await findGrantsBy(tx, accountId, "resource_group_id", now.id);
      const { included, everyResource, resources } = group;
      preventEscalation(actor, compile(uses.map((use) => ({ ...use, included, everyResource, resources }))));
      await updateResourceGroup(tx, accountId, group);
      await record(tx, deps, actor, "update", { group, before: view(now), after: view(group) });
      deps.invalidateGrants(tx, accountId);
      return group;
    });
  },

  /** Throws `core.referenced` while it is assigned. */
  async delete(actor: Actor, key: Referred): Promise<ResourceGroup> {
    const { accountId } = actor;
    authorize(actor, "core_resourcegroup_delete", scopeOf(accountId, key), key.identifier);
    if (isBuiltIn(key)) throw problem("access.reserved_identifier", [key.identifier]);
    return deps.db.transaction(async (tx) => {
      await lockResourceGroups(tx, accountId, key);
      const group = await findResourceGroup(tx, accountId, key);
      if (!group) throw problem("access.no_resource_group", [key.identifier]);
      const uses = await countUses(tx, accountId, "resource_group_id", group.id);
      if (uses > 0)
        throw commonProblem("core.referenced", ["Resource group", group.identifier, `${uses} role assignments`]);
      await deleteResourceGroup(tx, accountId, group.id);
      const gone = await deps.dereference(tx, accountId, group, { RESOURCEGROUP: group.identifier });
      await record(tx, deps, actor, "delete", { group, before: { ...goneToo(gone), ...view(group) } });
      return group;
    });
  },

  checkView: (actor: Actor, place: Place): void =>
    requireSeen(actor, PERMISSION, place, seen(actor, PERMISSION, scopeOf(actor.accountId, place))),

  async get(actor: Actor, key: Referred): Promise<ResourceGroup> {
    authorize(actor, "core_resourcegroup_view", scopeOf(actor.accountId, key), key.identifier);
    const group = isBuiltIn(key) ?? (await findResourceGroup(deps.db, actor.accountId, key));
    if (!group) throw problem("access.no_resource_group", [key.identifier]);
    return group;
  },

  /** Built-in groups of the scope first, then custom ones by name or in the given order. */
  async list(actor: Actor, place: Place, filter: GroupFilter): Promise<readonly ResourceGroup[]> {
    const visible = seen(actor, "core_resourcegroup_view", scopeOf(actor.accountId, place));
    requireSeen(actor, "core_resourcegroup_view", place, visible);
    await deps.requireScope(actor, place);
    const all = [
      ...builtInGroupsAt(place),
      ...(await listResourceGroups(deps.db, actor.accountId, place, filter.order)),
    ];
    const term = (filter.searchTerm ?? "").toLowerCase();
    return all.filter(
      ({ id, identifier, name }) =>
        (visible === "all" || visible.has(identifier)) &&
        (filter.identifiers?.includes(identifier) ?? true) &&
        (filter.platformManaged === undefined || filter.platformManaged === (id === null)) &&
        [identifier, name].some((text) => text.toLowerCase().includes(term)),
    );
  },
});

export type ResourceGroups = ReturnType<typeof createResourceGroups>;

type View = ReturnType<typeof view>;
type Changed = { readonly group: ResourceGroup; readonly before?: View; readonly after?: View };

function record(tx: Tx, { audit }: WriteDeps, actor: Actor, verb: string, { group, before, after }: Changed) {
  const scope = within(group);
  const what = {
    operation: `resource-group.${verb}`,
    resourceType: "RESOURCE_GROUP",
    resourceId: group.identifier,
    scope,
  };
  return audit.record(tx, actor, { ...what, before, after });
}
