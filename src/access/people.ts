import type { Actor } from "../core/actor.ts";
import type { Uuid } from "../core/ids.ts";
import { scopeOf, type Place } from "../core/reference.ts";
import type { Db } from "../platform/db/db.ts";
import { builtInGroups, builtInRoles } from "./builtin.ts";
import type { RequireScope } from "./places.ts";
import { authorize, permits } from "./grants/permits.ts";
import { findPeopleAt, findRolesOf, type PeopleFilter } from "./store/people.ts";

/** One role that was assigned to a user directly. `isBuiltIn`: the role cannot be changed. */
export type RoleOfPerson = {
  readonly identifier: string;
  readonly roleIdentifier: string;
  readonly roleName: string;
  readonly resourceGroupIdentifier: string;
  readonly resourceGroupName: string;
  readonly isBuiltIn: boolean;
};

/**
 * The ids of the users of a scope; undefined for all users of the account. They have a role there or belong to a user
 * group of that scope. Requires `core_user_view` in the scope, and `core_role_view` to filter by roles or resource
 * groups. Throws what RequireScope throws.
 */
export type PeopleOfScope = (actor: Actor, place: Place, filter: PeopleFilter) => Promise<readonly Uuid[] | undefined>;

/** The roles of these users in exactly this scope; none if the actor lacks `core_role_view` there. */
export type RolesOfPeople = (
  actor: Actor,
  place: Place,
  people: readonly Uuid[],
) => Promise<ReadonlyMap<Uuid, readonly RoleOfPerson[]>>;

type Deps = { readonly db: Db; readonly requireScope: RequireScope };

export function createPeople({ db, requireScope }: Deps): {
  readonly peopleOfScope: PeopleOfScope;
  readonly rolesOfPeople: RolesOfPeople;
} {
  return {
    async peopleOfScope(actor, place, filter) {
      const scope = scopeOf(actor.accountId, place);
      authorize(actor, "core_user_view", scope);
      const isFiltered = filter.roles !== undefined || filter.resourceGroups !== undefined;
      if (isFiltered) authorize(actor, "core_role_view", scope);
      await requireScope(actor, place);
      if (place.orgIdentifier === null && !isFiltered) return undefined;
      return findPeopleAt(db, actor.accountId, place, filter);
    },
    async rolesOfPeople(actor, place, people) {
      if (people.length === 0 || !permits(actor, "core_role_view", scopeOf(actor.accountId, place))) return new Map();
      const rows = await findRolesOf(db, actor.accountId, place, people);
      const roles = rows.map(({ roleName, resourceGroupName, ...row }) => ({
        ...row,
        roleName: roleName ?? builtInRoles.get(row.roleIdentifier)?.name ?? row.roleIdentifier,
        resourceGroupName:
          resourceGroupName ?? builtInGroups.get(row.resourceGroupIdentifier)?.name ?? row.resourceGroupIdentifier,
        isBuiltIn: roleName === null,
      }));
      return Map.groupBy(roles, ({ personId }) => personId);
    },
  };
}
