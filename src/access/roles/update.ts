import type { Actor } from "../../core/actor.ts";
import { scopeOf } from "../../core/reference.ts";
import type { WriteDeps } from "../deps.ts";
import { compile } from "../grants/compile.ts";
import { preventEscalation } from "../grants/escalation.ts";
import { authorize } from "../grants/permits.ts";
import { requireSame } from "../places.ts";
import { problem } from "../problems.ts";
import { findGrantsBy } from "../store/grants.ts";
import { findRole, updateRoleRow } from "../store/roles.ts";
import { roleEntry, shownRole } from "./audit.ts";
import { checkRole, type NewRole, type Role } from "./role.ts";

/**
 * Changes a role. The actor must hold its additional permissions in every scope where it is assigned. Throws
 * `access.other_identifier`, what `checkRole` throws, `access.no_role`, `access.beyond_own`.
 */
export const updateRole =
  (deps: Pick<WriteDeps, "db" | "audit" | "clock" | "invalidateGrants">) =>
  async (actor: Actor, identifier: string, input: NewRole): Promise<Role> => {
    const { accountId } = actor;
    authorize(actor, "core_role_edit", scopeOf(accountId, input), identifier);
    requireSame(input.identifier, identifier);
    checkRole(input);
    return deps.db.transaction(async (tx) => {
      const now = await findRole(tx, accountId, { key: input, lock: "for update" });
      if (!now) throw problem("access.no_role", [input.identifier]);
      const role = { ...now, ...input, updatedAt: deps.clock.now() };
      const more = role.permissions.filter((permission) => !now.permissions.includes(permission));
      const uses = more.length === 0 ? [] : await findGrantsBy(tx, accountId, { column: "role_id", id: now.id });
      preventEscalation(actor, compile(uses.map((use) => ({ ...use, permissions: more }))));
      await updateRoleRow(tx, accountId, role);
      await deps.audit.record(tx, actor, roleEntry("update", { role, before: shownRole(now), after: shownRole(role) }));
      deps.invalidateGrants(tx, accountId);
      return role;
    });
  };

export type UpdateRole = ReturnType<typeof updateRole>;
