import type { Actor } from "../../../core/actor.ts";
import type { Uuid } from "../../../core/ids.ts";
import { Problem } from "../../../core/problem.ts";
import type { Page, Window } from "../../../core/page.ts";
import type { Db } from "../../../platform/db/db.ts";
import { countMembersOfGroups, selectMembersOfGroups } from "../../store/members.ts";
import { getGroups } from "../get/by-ids.ts";
import { pagesOf } from "../list/pages-of.ts";
import type { Member } from "../user-group.ts";

/**
 * Lists the members of each group by name, in the order of the groups; `access.no_group` for those that the actor may
 * not view.
 */
export const listMembersOfGroups =
  ({ db }: { readonly db: Db }) =>
  async (actor: Actor, ids: readonly Uuid[], window: Window): Promise<readonly (Page<Member> | Problem)[]> => {
    const { accountId } = actor;
    const groups = await getGroups({ db })(actor, ids);
    const visible = groups.flatMap((group) => (group instanceof Problem ? [] : [group.id]));
    const rows = await selectMembersOfGroups(db, accountId, { groupIds: visible, window });
    const found = Map.groupBy(rows, ({ groupId }) => groupId);
    const pages = pagesOf(ids, { found, window, count: () => countMembersOfGroups(db, accountId, visible) });
    return pages.map((page, at) => (groups[at] instanceof Problem ? groups[at] : page));
  };
