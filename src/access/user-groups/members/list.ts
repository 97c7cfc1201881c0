import type { Actor } from "../../../core/actor.ts";
import type { Page, Window } from "../../../core/page.ts";
import type { Db } from "../../../platform/db/db.ts";
import { problem } from "../../problems.ts";
import { countMembers, selectMembers } from "../../store/members.ts";
import { requireGroup } from "../get/require-group.ts";
import { isBuiltIn, type GroupKey, type Member } from "../user-group.ts";

/** Lists the members of a group by name. Throws `access.no_group`, and `access.everybody` for a built-in group. */
export const listMembers =
  ({ db }: { readonly db: Db }) =>
  async (
    actor: Actor,
    key: GroupKey,
    { searchTerm = "", ...window }: Window & { readonly searchTerm?: string | undefined },
  ): Promise<Page<Member>> => {
    const { id, identifier } = await requireGroup(db, actor, "core_usergroup_view", key);
    if (isBuiltIn(identifier)) throw problem("access.everybody", [identifier]);
    const items = await selectMembers(db, actor.accountId, { groupId: id, searchTerm, window });
    return { items, ...window, total: () => countMembers(db, actor.accountId, { groupId: id, searchTerm }) };
  };
