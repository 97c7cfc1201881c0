import type { Actor } from "../../core/actor.ts";
import { commonProblem } from "../../core/problems.ts";
import { scopeOf, type Referred } from "../../core/reference.ts";
import { shownRemovals } from "../../platform/removed-reference.ts";
import type { WriteDeps } from "../deps.ts";
import { authorize } from "../grants/permits.ts";
import { problem } from "../problems.ts";
import { countUses } from "../store/assignments.ts";
import { deleteRoleRow, findRole } from "../store/roles.ts";
import { roleEntry, shownRole } from "./audit.ts";
import { findBuiltInRole, type Role } from "./role.ts";

/**
 * Deletes a role and returns it. Throws `access.reserved_identifier`, `access.no_role`, and `core.referenced` while it
 * is assigned.
 */
export const deleteRole =
  (deps: Pick<WriteDeps, "db" | "audit" | "dereference">) =>
  async (actor: Actor, key: Referred): Promise<Role> => {
    const { accountId } = actor;
    authorize(actor, "core_role_delete", scopeOf(accountId, key), key.identifier);
    if (findBuiltInRole(key)) throw problem("access.reserved_identifier", [key.identifier]);
    return deps.db.transaction(async (tx) => {
      const role = await findRole(tx, accountId, { key, lock: "for update" });
      if (!role) throw problem("access.no_role", [key.identifier]);
      const uses = await countUses(tx, accountId, { column: "role_id", id: role.id });
      if (uses > 0) throw commonProblem("core.referenced", ["Role", role.identifier, `${uses} role assignments`]);
      await deleteRoleRow(tx, accountId, role.id);
      const gone = await deps.dereference(tx, accountId, role, { ROLE: role.identifier });
      await deps.audit.record(
        tx,
        actor,
        roleEntry("delete", { role, before: { ...shownRemovals(gone), ...shownRole(role) } }),
      );
      return role;
    });
  };

export type DeleteRole = ReturnType<typeof deleteRole>;
