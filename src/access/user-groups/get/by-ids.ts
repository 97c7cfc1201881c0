import type { Actor } from "../../../core/actor.ts";
import { toWire, type Uuid } from "../../../core/ids.ts";
import type { Problem } from "../../../core/problem.ts";
import { scopeOf } from "../../../core/reference.ts";
import type { Db } from "../../../platform/db/db.ts";
import { authorizeSomewhere, refusalOf } from "../../grants/permits.ts";
import { problem } from "../../problems.ts";
import { findGroupsById } from "../../store/user-groups.ts";
import type { UserGroup } from "../user-group.ts";

/** Returns the groups with these ids, in their order; `access.no_group` for those that the actor may not view. */
export const getGroups =
  ({ db }: { readonly db: Db }) =>
  async (actor: Actor, ids: readonly Uuid[]): Promise<readonly (UserGroup | Problem)[]> => {
    const { accountId } = actor;
    authorizeSomewhere(actor, "core_usergroup_view");
    const groups = await findGroupsById(db, accountId, ids);
    const byId = new Map(groups.map((group) => [group.id, group]));
    return ids.map((id) => {
      const group = byId.get(id);
      const refusal = group && refusalOf(actor, "core_usergroup_view", scopeOf(accountId, group), group.identifier);
      return !group || refusal ? problem("access.no_group", [toWire(id)], { refusal }) : group;
    });
  };
