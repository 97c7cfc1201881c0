import type { Actor } from "../../core/actor.ts";
import { within } from "../../core/reference.ts";
import type { Tx } from "../../platform/db/db.ts";
import type { WriteDeps } from "../deps.ts";
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

/** Appends an entry for a changed role. */
export const recordRole = (
  tx: Tx,
  { audit }: Pick<WriteDeps, "audit">,
  actor: Actor,
  operation: "create" | "update" | "delete",
  { role, before, after }: RoleChange,
): Promise<void> =>
  audit.record(tx, actor, {
    operation: `role.${operation}`,
    resourceType: "ROLE",
    resourceId: role.identifier,
    scope: within(role),
    before,
    after,
  });
