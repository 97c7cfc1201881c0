import type { AuditedChange } from "../../audit/index.ts";
import { within } from "../../core/reference.ts";
import type { ResourceGroup } from "./resource-group.ts";

/** The resource group for the audit trail. */
export const shownResourceGroup = (group: ResourceGroup) => ({
  name: group.name,
  description: group.description,
  color: group.color,
  tags: group.tags,
  included: group.included,
  everyResource: group.everyResource,
  resources: group.resources,
});

type ShownGroup = ReturnType<typeof shownResourceGroup>;
type GroupChange = { readonly group: ResourceGroup; readonly before?: ShownGroup; readonly after?: ShownGroup };

/** The audit entry of a changed resource group. */
export const resourceGroupEntry = (
  operation: "create" | "update" | "delete",
  { group, before, after }: GroupChange,
): AuditedChange => ({
  operation: `resource-group.${operation}`,
  resourceType: "RESOURCE_GROUP",
  resourceId: group.identifier,
  scope: within(group),
  before,
  after,
});
