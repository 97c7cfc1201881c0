import type { Actor } from "../../core/actor.ts";
import { within } from "../../core/reference.ts";
import type { Tx } from "../../platform/db/db.ts";
import type { Assignment } from "./assignment.ts";
import type { AssignmentDeps } from "./deps.ts";

/** The role assignment for the audit trail. */
export const shownAssignment = ({ principal, role, resourceGroup, disabled }: Assignment) => ({
  principal: { type: principal.type, identifier: principal.identifier, level: principal.level },
  role: role.identifier,
  resourceGroup: resourceGroup.identifier,
  disabled,
});

type ShownAssignment = ReturnType<typeof shownAssignment>;
type AssignmentChange = {
  readonly assignment: Assignment;
  readonly before?: ShownAssignment;
  readonly after?: ShownAssignment;
};

/** Appends an entry for a created or deleted role assignment. */
export const recordAssignment = (
  tx: Tx,
  { audit }: Pick<AssignmentDeps, "audit">,
  actor: Actor,
  operation: "create" | "delete",
  { assignment, before, after }: AssignmentChange,
): Promise<void> =>
  audit.record(tx, actor, {
    operation: `role-assignment.${operation}`,
    resourceType: "ROLE_ASSIGNMENT",
    resourceId: assignment.identifier,
    scope: within(assignment),
    before,
    after,
  });
