import type { Actor } from "../../../core/actor.ts";
import type { Db } from "../../../platform/db/db.ts";
import type { GroupKey, UserGroup } from "../user-group.ts";
import { requireGroup } from "./require-group.ts";

/** Returns one group. Throws `access.no_group`. */
export const getGroup =
  ({ db }: { readonly db: Db }) =>
  (actor: Actor, key: GroupKey): Promise<UserGroup> =>
    requireGroup(db, actor, "core_usergroup_view", key);
