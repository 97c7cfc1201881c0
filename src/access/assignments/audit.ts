import type { AuditedChange } from "../../audit/index.ts";
import { within } from "../../core/reference.ts";
import type { Assignment } from "./assignment.ts";

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

/** The audit entry of a created or deleted role assignment. */
export const assignmentEntry = (
  operation: "create" | "delete",
  { assignment, before, after }: AssignmentChange,
): AuditedChange => ({
  operation: `role-assignment.${operation}`,
  resourceType: "ROLE_ASSIGNMENT",
  resourceId: assignment.identifier,
  scope: within(assignment),
  before,
  after,
});
