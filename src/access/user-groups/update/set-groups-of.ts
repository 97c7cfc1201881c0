import type { Actor } from "../../../core/actor.ts";
import { fromWire, toWire, type Uuid } from "../../../core/ids.ts";
import type { Tx } from "../../../platform/db/db.ts";
import { authorize } from "../../grants/permits.ts";
import { problem } from "../../problems.ts";
import { heldGroupsOf } from "../../store/members.ts";
import { findGroupById } from "../../store/user-groups.ts";
import { changeGroup, type ChangeDeps } from "./change-group.ts";

/**
 * Makes a user a member of exactly these groups of the account, in the caller's transaction. Groups of identity
 * providers stay unchanged. Throws `access.no_group` and what `updateGroup` throws.
 */
export const setGroupsOf =
  (deps: ChangeDeps) =>
  async (tx: Tx, actor: Actor, userId: Uuid, groupIds: readonly string[]): Promise<void> => {
    const { accountId } = actor;
    const now = new Set(await heldGroupsOf(tx, accountId, userId));
    const then = new Set(groupIds.map((text) => fromWire(text) ?? refuse(text)));
    // In the order of their ids, so that two transactions do not deadlock.
    for (const id of [...now.symmetricDifference(then)].toSorted()) {
      const group = await findGroupById(tx, accountId, id);
      if (!group || group.orgIdentifier !== null) refuse(toWire(id));
      authorize(actor, "core_usergroup_manage", { accountId }, group.identifier);
      const members = then.has(id) ? { add: [userId] } : { remove: [userId] };
      await changeGroup(tx, deps, { actor, found: group, change: { members }, writer: "interface" });
    }
  };

function refuse(text: string): never {
  throw problem("access.no_group", [text.slice(0, 64)]);
}
