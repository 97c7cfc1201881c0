import type { AuditedChange } from "../../audit/index.ts";
import { within } from "../../core/reference.ts";
import type { Role } from "./role.ts";

/** The role for the audit trail. */
export const shownRole = ({ name, description, tags, permissions, levels }: Role) => ({
  name,
  description,
  tags,
  permissions: permissions.toSorted(),
  levels,
});

type ShownRole = ReturnType<typeof shownRole>;
type RoleChange = { readonly role: Role; readonly before?: ShownRole; readonly after?: ShownRole };

/** The audit entry of a changed role. */
export const roleEntry = (
  operation: "create" | "update" | "delete",
  { role, before, after }: RoleChange,
): AuditedChange => ({
  operation: `role.${operation}`,
  resourceType: "ROLE",
  resourceId: role.identifier,
  scope: within(role),
  before,
  after,
});
