import type { Actor } from "../../core/actor.ts";
import { scopeOf } from "../../core/reference.ts";
import { authorize } from "../grants/permits.ts";
import { MANAGE_PERMISSIONS, type NewAssignment } from "./assignment.ts";
import type { AssignmentDeps } from "./deps.ts";
import { resolveAssignment } from "./resolve.ts";

/**
 * Throws what `createRoleAssignments` would throw, except `access.assigned_already` and `access.too_many_assignments`.
 * Creates nothing.
 */
export const validateRoleAssignment =
  (deps: Pick<AssignmentDeps, "db" | "clock" | "newId" | "requireScope" | "findServiceAccount">) =>
  async (actor: Actor, input: NewAssignment): Promise<void> => {
    authorize(actor, MANAGE_PERMISSIONS[input.principal.type], scopeOf(actor.accountId, input));
    await deps.requireScope(actor, input);
    await deps.db.transaction(async (tx) => {
      await resolveAssignment(tx, deps, { actor, input, id: deps.newId(), at: deps.clock.now() });
    });
  };

export type ValidateRoleAssignment = ReturnType<typeof validateRoleAssignment>;
