import type { Actor } from "../../../core/actor.ts";
import type { Page, Window } from "../../../core/page.ts";
import { scopeOf } from "../../../core/reference.ts";
import { authorize, seen } from "../../grants/permits.ts";
import { countGroups, selectGroups, type GroupFilter } from "../../store/user-groups.ts";
import type { GroupDeps } from "../deps.ts";
import { allUsersOf, type UserGroup } from "../user-group.ts";

/** Lists the groups of one scope that the actor may view, by name. Throws what RequireScope throws. */
export const listGroups =
  ({ db, requireScope }: Pick<GroupDeps, "db" | "requireScope">) =>
  async (
    actor: Actor,
    { withBuiltIn = true, ...given }: Omit<GroupFilter, "seen"> & { readonly withBuiltIn?: boolean },
    window: Window,
  ): Promise<Page<UserGroup>> => {
    const { accountId } = actor;
    const scope = scopeOf(accountId, given);
    const filter = { ...given, seen: seen(actor, "core_usergroup_view", scope) };
    // An actor who may view none is refused; one who may view some gets those.
    if (filter.seen !== "all" && filter.seen.size === 0) authorize(actor, "core_usergroup_view", scope);
    await requireScope(actor, given);
    // The built-in group comes first.
    const first = withBuiltIn && matches(allUsersOf(given), filter) ? [allUsersOf(given)] : [];
    const { limit, offset } = window;
    const ahead = first.slice(offset, offset + limit);
    const from = { ...window, limit: limit - ahead.length, offset: Math.max(0, offset - first.length) };
    const items = [...ahead, ...(await selectGroups(db, accountId, { filter, window: from }))];
    return { items, ...window, total: async () => first.length + (await countGroups(db, accountId, filter)) };
  };

function matches(
  { identifier, name }: UserGroup,
  { searchTerm = "", identifiers, seen: visible, ...rest }: GroupFilter,
) {
  const term = searchTerm.toLowerCase();
  if (rest.externallyManaged || (identifiers && !identifiers.includes(identifier))) return false;
  if (visible !== "all" && !visible.has(identifier)) return false;
  return [name, identifier].some((text) => text.toLowerCase().includes(term));
}
