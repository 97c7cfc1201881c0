import type { Actor } from "../../core/actor.ts";
import type { Uuid } from "../../core/ids.ts";
import { scopeOf } from "../../core/reference.ts";
import type { Tx } from "../../platform/db/db.ts";
import { levelOf } from "../grants/permission.ts";
import { authorize } from "../grants/permits.ts";
import { problem } from "../problems.ts";
import { holdAll, insertAssignment } from "../store/assignments.ts";
import { MANAGE_PERMISSIONS, type Assignment, type NewAssignment } from "./assignment.ts";
import { recordAssignment, shownAssignment } from "./audit.ts";
import type { AssignmentDeps } from "./deps.ts";
import { placeAt, resolveAssignment } from "./resolve.ts";

type Deps = Omit<AssignmentDeps, "keepAdministrator">;

/**
 * Creates all or none of the role assignments. Throws what RequireScope and `resolveAssignment` throw, and
 * `access.assigned_already`.
 */
export const createRoleAssignments =
  (deps: Deps) =>
  async (actor: Actor, inputs: readonly NewAssignment[]): Promise<readonly Assignment[]> => {
    for (const input of inputs)
      authorize(actor, MANAGE_PERMISSIONS[input.principal.type], scopeOf(actor.accountId, input));
    for (const input of inputs) await deps.requireScope(actor, input);
    return deps.db.transaction(async (tx) => {
      if (inputs.length > 1) await lockRolesAndGroups(tx, actor.accountId, inputs);
      const created: Assignment[] = [];
      for (const input of inputs) created.push(await createOne(tx, deps, actor, input));
      deps.invalidateGrants(tx, actor.accountId);
      return created;
    });
  };

export type CreateRoleAssignments = ReturnType<typeof createRoleAssignments>;

async function createOne(tx: Tx, deps: Deps, actor: Actor, input: NewAssignment): Promise<Assignment> {
  const { accountId } = actor;
  const id = deps.newId();
  const at = deps.clock.now();
  const assignment = await resolveAssignment(tx, deps, actor, input, { id, at });
  if (!(await insertAssignment(tx, accountId, assignment))) throw problem("access.assigned_already");
  await recordAssignment(tx, deps, actor, "create", { assignment, after: shownAssignment(assignment) });
  return assignment;
}

/**
 * Locks roles before resource groups, in the same order as deletions of roles do, so that transactions do not deadlock.
 */
async function lockRolesAndGroups(tx: Tx, accountId: Uuid, inputs: readonly NewAssignment[]): Promise<void> {
  const roles = inputs.flatMap(({ role: { identifier, level }, ...at }) => {
    const place = placeAt(level ?? levelOf(at), at);
    return place ? [{ ...place, identifier }] : [];
  });
  await holdAll(tx, "roles", accountId, roles);
  const groups = inputs.map(({ resourceGroup: identifier, ...at }) => ({ ...at, identifier }));
  await holdAll(tx, "resource_groups", accountId, groups);
}
