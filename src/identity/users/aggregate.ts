import type { PeopleOfScope, RoleOfPerson, RolesOfPeople } from "../../access/index.ts";
import type { Actor } from "../../core/actor.ts";
import { fromWire } from "../../core/ids.ts";
import type { Page, Window } from "../../core/page.ts";
import type { Place } from "../../core/reference.ts";
import type { Db } from "../../platform/db/db.ts";
import { problem } from "../problems.ts";
import { countUsers, listUsers } from "../store/users.ts";
import type { UserDetail } from "../user.ts";

/** A user with the roles assigned directly in the scope of the request. */
export type UserWithRoles = { readonly user: UserDetail; readonly roles: readonly RoleOfPerson[] };

/** `roles` and `resourceGroups` are identifiers; undefined does not filter. */
export type AggregateFilter = {
  readonly searchTerm?: string | undefined;
  readonly roles?: readonly string[] | undefined;
  readonly resourceGroups?: readonly string[] | undefined;
};

type AggregateQuery = { readonly filter: AggregateFilter; readonly window: Window };

export type UserAggregates = {
  /** Lists the users of a scope, by name by default. Throws what `PeopleOfScope` throws. */
  readonly list: (actor: Actor, place: Place, query: AggregateQuery) => Promise<Page<UserWithRoles>>;
  /** Throws `identity.no_user`, also for a user outside of the scope. */
  readonly get: (actor: Actor, place: Place, id: string) => Promise<UserWithRoles>;
};

type Deps = { readonly db: Db; readonly peopleOfScope: PeopleOfScope; readonly rolesOfPeople: RolesOfPeople };

export function createUserAggregates({ db, peopleOfScope, rolesOfPeople }: Deps): UserAggregates {
  const withRoles = async (actor: Actor, place: Place, users: readonly UserDetail[]): Promise<UserWithRoles[]> => {
    const ids = users.map(({ id }) => id);
    const roles = await rolesOfPeople(actor, place, ids);
    return users.map((user) => ({ user, roles: roles.get(user.id) ?? [] }));
  };
  return {
    async list(actor, place, { filter: { searchTerm, ...filter }, window }) {
      const asked = { searchTerm, ids: await peopleOfScope(actor, place, filter) };
      const items = await withRoles(actor, place, await listUsers(db, actor.accountId, { filter: asked, window }));
      return { items, ...window, total: () => countUsers(db, actor.accountId, asked) };
    },
    async get(actor, place, text) {
      const people = await peopleOfScope(actor, place, {});
      const id = fromWire(text);
      if (!id || people?.includes(id) === false) throw problem("identity.no_user");
      const users = await listUsers(db, actor.accountId, { filter: { ids: [id] }, window: { limit: 1, offset: 0 } });
      const [found] = await withRoles(actor, place, users);
      if (!found) throw problem("identity.no_user");
      return found;
    },
  };
}
