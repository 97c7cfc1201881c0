import type { Actor } from "../../../core/actor.ts";
import type { Tx } from "../../../platform/db/db.ts";
import { updateGroupRow } from "../../store/user-groups.ts";
import { groupEntry, shownGroup } from "../audit.ts";
import type { GroupDeps } from "../deps.ts";
import { lockGroupFor } from "../lock.ts";
import { changeMembers } from "../members/change.ts";
import type { GroupWrite, MemberChange, UserGroup } from "../user-group.ts";

/**
 * A change of a group. Missing fields stay as they are. It holds fields and members, since one document contains both.
 */
export type GroupChange = Partial<Pick<UserGroup, "name" | "description" | "tags" | "externalId">> & {
  readonly members?: MemberChange | undefined;
};

export type ChangeDeps = Pick<GroupDeps, "db" | "audit" | "clock" | "invalidateGrants" | "keepAdministrator">;

type GroupUpdate = GroupWrite & {
  readonly actor: Actor;
  readonly found: UserGroup;
  readonly change: GroupChange;
};

/** The change itself, in the caller's transaction. */
export async function changeGroup(tx: Tx, deps: ChangeDeps, update: GroupUpdate): Promise<UserGroup> {
  const { actor } = update;
  const { accountId } = actor;
  const { members, ...fields } = update.change;
  const group = await lockGroupFor(tx, accountId, update);
  const { added, removed } = await changeMembers(tx, deps, { actor, group, members });
  const to: UserGroup = { ...group, ...fields, version: group.version + 1, updatedAt: deps.clock.now() };
  await updateGroupRow(tx, accountId, to);
  const before = shownGroup(group);
  const after = shownGroup(to, { added, removed });
  await deps.audit.record(tx, actor, groupEntry("update", { group, before, after }));
  deps.invalidateGrants(tx, accountId);
  if (removed.length > 0) await deps.keepAdministrator(tx, accountId);
  return to;
}
