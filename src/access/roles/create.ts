import type { Actor } from "../../core/actor.ts";
import { scopeOf } from "../../core/reference.ts";
import type { WriteDeps } from "../deps.ts";
import { authorize } from "../grants/permits.ts";
import { problem } from "../problems.ts";
import { insertRole } from "../store/roles.ts";
import { roleEntry, shownRole } from "./audit.ts";
import { checkRole, type NewRole, type Role } from "./role.ts";

/** Creates a role. Throws what RequireScope and `checkRole` throw, and `access.duplicate`. */
export const createRole =
  (deps: Pick<WriteDeps, "db" | "audit" | "clock" | "newId" | "requireScope">) =>
  async (actor: Actor, input: NewRole): Promise<Role> => {
    const { accountId } = actor;
    authorize(actor, "core_role_edit", scopeOf(accountId, input), input.identifier);
    await deps.requireScope(actor, input);
    checkRole(input);
    const at = deps.clock.now();
    const role = { ...input, id: deps.newId(), createdAt: at, updatedAt: at };
    await deps.db.transaction(async (tx) => {
      if (!(await insertRole(tx, accountId, role))) throw problem("access.duplicate", ["role", role.identifier]);
      await deps.audit.record(tx, actor, roleEntry("create", { role, after: shownRole(role) }));
    });
    return role;
  };

export type CreateRole = ReturnType<typeof createRole>;
