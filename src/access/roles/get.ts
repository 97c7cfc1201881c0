import type { Actor } from "../../core/actor.ts";
import { scopeOf, type Referred } from "../../core/reference.ts";
import type { WriteDeps } from "../deps.ts";
import { authorize } from "../grants/permits.ts";
import { problem } from "../problems.ts";
import { findRole } from "../store/roles.ts";
import { findBuiltInRole, type Role } from "./role.ts";

/** Returns one role, built-in or custom. Throws `access.no_role`. */
export const getRole =
  ({ db }: Pick<WriteDeps, "db">) =>
  async (actor: Actor, key: Referred): Promise<Role> => {
    authorize(actor, "core_role_view", scopeOf(actor.accountId, key), key.identifier);
    const role = findBuiltInRole(key) ?? (await findRole(db, actor.accountId, { key }));
    if (!role) throw problem("access.no_role", [key.identifier]);
    return role;
  };

export type GetRole = ReturnType<typeof getRole>;
