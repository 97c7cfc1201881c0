import type { Actor } from "../../core/actor.ts";
import { within } from "../../core/reference.ts";
import type { Tx } from "../../platform/db/db.ts";
import type { WriteDeps } from "../deps.ts";
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

/** Appends an entry for a changed resource group. */
export const recordResourceGroup = (
  tx: Tx,
  { audit }: Pick<WriteDeps, "audit">,
  actor: Actor,
  operation: "create" | "update" | "delete",
  { group, before, after }: GroupChange,
): Promise<void> =>
  audit.record(tx, actor, {
    operation: `resource-group.${operation}`,
    resourceType: "RESOURCE_GROUP",
    resourceId: group.identifier,
    scope: within(group),
    before,
    after,
  });
