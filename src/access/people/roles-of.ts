import type { Actor } from "../../core/actor.ts";
import type { Uuid } from "../../core/ids.ts";
import { scopeOf, type Place } from "../../core/reference.ts";
import type { Db } from "../../platform/db/db.ts";
import { builtInGroups, builtInRoles } from "../builtin.ts";
import { permits } from "../grants/permits.ts";
import { findRolesOf } from "../store/people.ts";

/** One role that was assigned to a user directly. `isBuiltIn`: the role cannot be changed. */
export type RoleOfPerson = {
  readonly identifier: string;
  readonly roleIdentifier: string;
  readonly roleName: string;
  readonly resourceGroupIdentifier: string;
  readonly resourceGroupName: string;
  readonly isBuiltIn: boolean;
};

/** Finds the roles of these users in exactly this scope; none if the actor lacks `core_role_view` there. */
export const findRolesOfPeople =
  ({ db }: { readonly db: Db }) =>
  async (actor: Actor, place: Place, people: readonly Uuid[]): Promise<ReadonlyMap<Uuid, readonly RoleOfPerson[]>> => {
    if (people.length === 0 || !permits(actor, "core_role_view", scopeOf(actor.accountId, place))) return new Map();
    const rows = await findRolesOf(db, actor.accountId, { place, people });
    const roles = rows.map(({ roleName, resourceGroupName, ...row }) => ({
      ...row,
      roleName: roleName ?? builtInRoles.get(row.roleIdentifier)?.name ?? row.roleIdentifier,
      resourceGroupName:
        resourceGroupName ?? builtInGroups.get(row.resourceGroupIdentifier)?.name ?? row.resourceGroupIdentifier,
      isBuiltIn: roleName === null,
    }));
    return Map.groupBy(roles, ({ personId }) => personId);
  };

/** The roles of each user in exactly one scope. A user without roles is missing. */
export type RolesOfPeople = ReturnType<typeof findRolesOfPeople>;
