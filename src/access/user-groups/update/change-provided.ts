import type { Actor } from "../../../core/actor.ts";
import type { Uuid } from "../../../core/ids.ts";
import type { Tx } from "../../../platform/db/db.ts";
import { membersOf } from "../../store/members.ts";
import { requireGroup } from "../get/require-group.ts";
import { lockGroupFor } from "../lock.ts";
import type { FilledGroup, UserGroup } from "../user-group.ts";
import { changeGroup, type ChangeDeps, type GroupChange } from "./change-group.ts";

type ProvidedChange = {
  readonly version: number | undefined;
  /** Computes the change with the group locked; undefined changes nothing. */
  readonly to: (now: FilledGroup) => GroupChange | undefined;
};

/**
 * As `updateGroup`, for an identity provider, which changes its own groups only. Returns the group after the change.
 */
export const changeProvidedGroup =
  (deps: ChangeDeps) =>
  async (actor: Actor, id: Uuid, { version, to }: ProvidedChange): Promise<FilledGroup> => {
    const { accountId } = actor;
    const found = await requireGroup(deps.db, actor, "core_usergroup_manage", { id });
    return deps.db.transaction(async (tx) => {
      const update = { found, writer: "provider", version } as const;
      const now = await fillGroup(tx, accountId, await lockGroupFor(tx, accountId, update));
      const change = to(now);
      return change ? fillGroup(tx, accountId, await changeGroup(tx, deps, { actor, ...update, change })) : now;
    });
  };

async function fillGroup(tx: Tx, accountId: Uuid, group: UserGroup): Promise<FilledGroup> {
  return { group, members: (await membersOf(tx, accountId, [group.id])).get(group.id) ?? [] };
}
