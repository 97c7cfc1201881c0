import type { Actor } from "../../core/actor.ts";
import type { Uuid } from "../../core/ids.ts";
import { scopeOf } from "../../core/reference.ts";
import type { Tx } from "../../platform/db/db.ts";
import { levelOf } from "../grants/permission.ts";
import { authorize } from "../grants/permits.ts";
import { problem } from "../problems.ts";
import { countAssignments, holdAll, insertAssignment, lockNumber } from "../store/assignments.ts";
import { MANAGE_PERMISSIONS, type Assignment, type NewAssignment } from "./assignment.ts";
import { assignmentEntry, shownAssignment } from "./audit.ts";
import type { AssignmentDeps } from "./deps.ts";
import { placeAt, resolveAssignment } from "./resolve.ts";

type Deps = Omit<AssignmentDeps, "keepAdministrator">;

/**
 * Creates all or none of the role assignments. Throws what RequireScope and `resolveAssignment` throw,
 * `access.assigned_already`, and `access.too_many_assignments`.
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
      await requireRoom(tx, actor.accountId, created);
      deps.invalidateGrants(tx, actor.accountId);
      return created;
    });
  };

export type CreateRoleAssignments = ReturnType<typeof createRoleAssignments>;

async function createOne(tx: Tx, deps: Deps, actor: Actor, input: NewAssignment): Promise<Assignment> {
  const { accountId } = actor;
  const id = deps.newId();
  const at = deps.clock.now();
  const assignment = await resolveAssignment(tx, deps, { actor, input, id, at });
  if (!(await insertAssignment(tx, accountId, assignment))) throw problem("access.assigned_already");
  await deps.audit.record(tx, actor, assignmentEntry("create", { assignment, after: shownAssignment(assignment) }));
  return assignment;
}

/** Each active user of an account reads their assignments about once a second, so a scope has only so many. */
const MAX_IN_PROJECT = 1_000;
const MAX_ABOVE_PROJECTS = 10_000;

/** Counts last, under a lock that is then held only until the commit. The assignments are of one scope. */
async function requireRoom(tx: Tx, accountId: Uuid, created: readonly Assignment[]): Promise<void> {
  const [place] = created;
  if (!place) return;
  const most = place.projectIdentifier === null ? MAX_ABOVE_PROJECTS : MAX_IN_PROJECT;
  await lockNumber(tx, accountId, "role-assignments");
  if ((await countAssignments(tx, accountId, { place, filter: {} })) > most)
    throw problem("access.too_many_assignments", [`${most}`]);
}

/**
 * Locks roles before resource groups, in the same order as deletions of roles do, so that transactions do not deadlock.
 */
async function lockRolesAndGroups(tx: Tx, accountId: Uuid, inputs: readonly NewAssignment[]): Promise<void> {
  const roles = inputs.flatMap(({ role: { identifier, level }, ...at }) => {
    const place = placeAt(level ?? levelOf(at), at);
    return place ? [{ ...place, identifier }] : [];
  });
  await holdAll(tx, accountId, { table: "roles", keys: roles });
  const groups = inputs.map(({ resourceGroup: identifier, ...at }) => ({ ...at, identifier }));
  await holdAll(tx, accountId, { table: "resource_groups", keys: groups });
}
