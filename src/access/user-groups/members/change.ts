import type { Actor } from "../../../core/actor.ts";
import { toWire, type Uuid } from "../../../core/ids.ts";
import type { Tx } from "../../../platform/db/db.ts";
import { compile } from "../../grants/compile.ts";
import { preventEscalation } from "../../grants/escalation.ts";
import { problem } from "../../problems.ts";
import { findGroupGrants } from "../../store/grants.ts";
import { addMembers, findPeople, memberIds, removeMembers } from "../../store/members.ts";
import type { ChangedMembers } from "../audit.ts";
import type { GroupDeps } from "../deps.ts";
import type { MemberChange, UserGroup } from "../user-group.ts";

type MembersUpdate = {
  readonly actor: Actor;
  readonly group: UserGroup;
  readonly members: MemberChange | undefined;
};

/**
 * Adds and removes members. Throws `access.no_person`, and `access.beyond_own` if the group grants a new member more
 * than the actor holds.
 */
export async function changeMembers(
  tx: Tx,
  deps: Pick<GroupDeps, "clock">,
  { actor, group, members = {} }: MembersUpdate,
): Promise<ChangedMembers> {
  const { accountId } = actor;
  const { add, remove } =
    "replace" in members
      ? await difference(tx, accountId, { groupId: group.id, to: members.replace })
      : { add: [], remove: [], ...members };
  await requirePeople(tx, accountId, add);
  const at = deps.clock.now();
  const added = add.length === 0 ? [] : await addMembers(tx, accountId, { groupId: group.id, ids: add, at });
  if (added.length > 0) preventEscalation(actor, compile(await findGroupGrants(tx, accountId, group.id)));
  const removed = remove.length === 0 ? [] : await removeMembers(tx, accountId, { groupId: group.id, ids: remove });
  return { added, removed };
}

async function difference(
  tx: Tx,
  accountId: Uuid,
  { groupId, to }: { readonly groupId: Uuid; readonly to: readonly Uuid[] },
) {
  const now = new Set(await memberIds(tx, accountId, groupId));
  const then = new Set(to);
  return { add: [...then.difference(now)], remove: [...now.difference(then)] };
}

/** Throws `access.no_person` unless all users exist. */
export async function requirePeople(tx: Tx, accountId: Uuid, ids: readonly Uuid[]): Promise<void> {
  if (ids.length === 0) return;
  const found = new Set((await findPeople(tx, accountId, ids)).map(({ id }) => id));
  const missing = ids.find((id) => !found.has(id));
  if (missing !== undefined) throw problem("access.no_person", [toWire(missing)]);
}
