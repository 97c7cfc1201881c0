import type { Actor } from "../../../core/actor.ts";
import type { Uuid } from "../../../core/ids.ts";
import type { Db } from "../../../platform/db/db.ts";
import { membersOf } from "../../store/members.ts";
import type { Member, UserGroup } from "../user-group.ts";

/** Returns the members of groups that were just read with the actor's permission. */
export const getMembers =
  ({ db }: { readonly db: Db }) =>
  async (actor: Actor, groups: readonly Pick<UserGroup, "id">[]): Promise<ReadonlyMap<Uuid, readonly Member[]>> =>
    groups.length === 0
      ? new Map()
      : membersOf(
          db,
          actor.accountId,
          groups.map(({ id }) => id),
        );
