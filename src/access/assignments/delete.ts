import type { Actor } from "../../core/actor.ts";
import { scopeOf, type Referred } from "../../core/reference.ts";
import { authorize } from "../grants/permits.ts";
import { problem } from "../problems.ts";
import { deleteAssignmentRow, findAssignment } from "../store/assignments.ts";
import { MANAGE_PERMISSIONS, type Assignment } from "./assignment.ts";
import { assignmentEntry, shownAssignment } from "./audit.ts";
import type { AssignmentDeps } from "./deps.ts";

/** Deletes a role assignment and returns it. Throws `access.no_assignment`, `access.last_administrator`. */
export const deleteRoleAssignment =
  (deps: Pick<AssignmentDeps, "db" | "audit" | "invalidateGrants" | "keepAdministrator">) =>
  async (actor: Actor, key: Referred): Promise<Assignment> => {
    const { accountId } = actor;
    const scope = scopeOf(accountId, key);
    // The type of the principal decides which of the three permissions is required. An actor without any of them
    // learns nothing.
    const assignment = await findAssignment(deps.db, accountId, key);
    authorize(actor, MANAGE_PERMISSIONS[assignment?.principal.type ?? "USER"], scope);
    if (!assignment) throw problem("access.no_assignment", [key.identifier]);
    await deps.db.transaction(async (tx) => {
      if (!(await deleteAssignmentRow(tx, accountId, assignment.id)))
        throw problem("access.no_assignment", [key.identifier]);
      await deps.audit.record(
        tx,
        actor,
        assignmentEntry("delete", { assignment, before: shownAssignment(assignment) }),
      );
      deps.invalidateGrants(tx, accountId);
      await deps.keepAdministrator(tx, accountId);
    });
    return assignment;
  };

export type DeleteRoleAssignment = ReturnType<typeof deleteRoleAssignment>;
