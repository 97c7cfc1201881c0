import type { Actor } from "../../core/actor.ts";
import type { SortOrder } from "../../core/page.ts";
import type { Place } from "../../core/reference.ts";
import type { WriteDeps } from "../deps.ts";
import { requireSeen } from "../places.ts";
import { selectRoles } from "../store/roles.ts";
import { builtInRolesAt, type Role } from "./role.ts";

type RoleFilter = {
  readonly searchTerm?: string | undefined;
  /** The order of custom roles. */
  readonly order?: readonly SortOrder[] | undefined;
};

/**
 * Lists the roles that the actor may view: built-in roles of the scope first, then custom ones by name or in the given
 * order. Throws what RequireScope throws.
 */
export const listRoles =
  ({ db, requireScope }: Pick<WriteDeps, "db" | "requireScope">) =>
  async (actor: Actor, place: Place, { searchTerm = "", order }: RoleFilter = {}): Promise<readonly Role[]> => {
    const visible = requireSeen(actor, "core_role_view", place);
    await requireScope(actor, place);
    const all = [...builtInRolesAt(place), ...(await selectRoles(db, actor.accountId, { place, order }))];
    const term = searchTerm.toLowerCase();
    return all.filter(
      ({ identifier, name }) =>
        (visible === "all" || visible.has(identifier)) &&
        [identifier, name].some((text) => text.toLowerCase().includes(term)),
    );
  };

export type ListRoles = ReturnType<typeof listRoles>;
