import type { Actor } from "../../../core/actor.ts";
import type { Uuid } from "../../../core/ids.ts";
import type { Page, Window } from "../../../core/page.ts";
import type { Db } from "../../../platform/db/db.ts";
import { seen } from "../../grants/permits.ts";
import { countGroupsOf, selectGroupsOf } from "../../store/members.ts";
import type { UserGroup } from "../user-group.ts";
import { pagesOf } from "./pages-of.ts";

/** Lists the groups of the account that each user is in and the actor may view, in the order of the users. */
export const listGroupsOf =
  ({ db }: { readonly db: Db }) =>
  async (
    actor: Actor,
    userIds: readonly Uuid[],
    window: Window,
  ): Promise<readonly Page<Pick<UserGroup, "id" | "name">>[]> => {
    const { accountId } = actor;
    const visible = seen(actor, "core_usergroup_view", { accountId });
    const shown = visible === "all" ? null : [...visible];
    const rows = await selectGroupsOf(db, accountId, { userIds, seen: shown, window });
    const found = Map.groupBy(rows, ({ userId }) => userId);
    return pagesOf(userIds, { found, window, count: () => countGroupsOf(db, accountId, { userIds, seen: shown }) });
  };
