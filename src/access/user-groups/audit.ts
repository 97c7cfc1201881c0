import type { AuditedChange } from "../../audit/index.ts";
import { toWire, type Uuid } from "../../core/ids.ts";
import { within } from "../../core/reference.ts";
import type { UserGroup } from "./user-group.ts";

export type ChangedMembers = { readonly added: readonly Uuid[]; readonly removed: readonly Uuid[] };

/** The user group for the audit trail, with the members that a change added and removed. */
export const shownGroup = (
  { name, description, tags, externalId }: UserGroup,
  { added = [], removed = [] }: Partial<ChangedMembers> = {},
) => ({
  name,
  description,
  tags,
  externalId,
  ...(added.length > 0 ? { membersAdded: added.map(toWire) } : {}),
  ...(removed.length > 0 ? { membersRemoved: removed.map(toWire) } : {}),
});

type ShownGroup = ReturnType<typeof shownGroup>;
type RecordedChange = { readonly group: UserGroup; readonly before?: ShownGroup; readonly after?: ShownGroup };

/** The audit entry of a changed user group. */
export const groupEntry = (
  operation: "create" | "update" | "delete",
  { group, before, after }: RecordedChange,
): AuditedChange => ({
  operation: `user-group.${operation}`,
  resourceType: "USER_GROUP",
  resourceId: group.identifier,
  scope: within(group),
  before,
  after,
});
