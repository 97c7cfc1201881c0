import type { Actor } from "../../core/actor.ts";
import type { Uuid } from "../../core/ids.ts";
import { scopeOf, type Place } from "../../core/reference.ts";
import type { Db } from "../../platform/db/db.ts";
import { authorize } from "../grants/permits.ts";
import type { RequireScope } from "../places.ts";
import { findPeopleAt, type PeopleFilter } from "../store/people.ts";

/**
 * Finds the ids of the users of a scope; undefined for all users of the account. They have a role there or belong to a
 * user group of that scope. Requires `core_user_view` in the scope, and `core_role_view` to filter by roles or resource
 * groups. Throws what RequireScope throws.
 */
export const findPeopleOfScope =
  ({ db, requireScope }: { readonly db: Db; readonly requireScope: RequireScope }) =>
  async (actor: Actor, place: Place, filter: PeopleFilter): Promise<readonly Uuid[] | undefined> => {
    const scope = scopeOf(actor.accountId, place);
    authorize(actor, "core_user_view", scope);
    const isFiltered = filter.roles !== undefined || filter.resourceGroups !== undefined;
    if (isFiltered) authorize(actor, "core_role_view", scope);
    await requireScope(actor, place);
    if (place.orgIdentifier === null && !isFiltered) return undefined;
    return findPeopleAt(db, actor.accountId, { place, filter });
  };

/** The ids of the users of a scope; undefined for all users of the account. */
export type PeopleOfScope = ReturnType<typeof findPeopleOfScope>;
