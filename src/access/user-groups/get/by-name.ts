import type { Actor } from "../../../core/actor.ts";
import type { Db } from "../../../platform/db/db.ts";
import { authorizeSomewhere, refusalOf } from "../../grants/permits.ts";
import { problem } from "../../problems.ts";
import { findGroupByName } from "../../store/user-groups.ts";
import type { UserGroup } from "../user-group.ts";

/** Returns a group of the account itself by its name. Throws `access.no_group`. */
export const getGroupByName =
  ({ db }: { readonly db: Db }) =>
  async (actor: Actor, name: string): Promise<UserGroup> => {
    const { accountId } = actor;
    authorizeSomewhere(actor, "core_usergroup_view");
    const group = await findGroupByName(db, accountId, name);
    const refusal = group && refusalOf(actor, "core_usergroup_view", { accountId }, group.identifier);
    if (!group || refusal) throw problem("access.no_group", [name], { refusal });
    return group;
  };
