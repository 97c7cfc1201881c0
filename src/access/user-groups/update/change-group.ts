import type { Actor } from "../../../core/actor.ts";
import type { Tx } from "../../../platform/db/db.ts";
import { updateGroupRow } from "../../store/user-groups.ts";
import { recordGroup, shownGroup } from "../audit.ts";
import type { GroupDeps } from "../deps.ts";
import { lockGroupFor } from "../lock.ts";
import { changeMembers } from "../members/change.ts";
import type { MemberChange, UserGroup, Writer } from "../user-group.ts";

/**
 * A change of a group. Missing fields stay as they are. It holds fields and members, since one document contains both.
 */
export type GroupChange = Partial<Pick<UserGroup, "name" | "description" | "tags" | "externalId">> & {
  readonly members?: MemberChange | undefined;
};

export type ChangeDeps = Pick<GroupDeps, "db" | "audit" | "clock" | "invalidateGrants" | "keepAdministrator">;

type GroupUpdate = {
  readonly found: UserGroup;
  readonly change: GroupChange;
  readonly writer: Writer;
  readonly version?: number | undefined;
};

/** The change itself, in the caller's transaction. */
export async function changeGroup(tx: Tx, deps: ChangeDeps, actor: Actor, update: GroupUpdate): Promise<UserGroup> {
  const { accountId } = actor;
  const { members, ...fields } = update.change;
  const group = await lockGroupFor(tx, accountId, update.found, update);
  const { added, removed } = await changeMembers(tx, deps, actor, { group, members });
  const to: UserGroup = { ...group, ...fields, version: group.version + 1, updatedAt: deps.clock.now() };
  await updateGroupRow(tx, accountId, to);
  const before = shownGroup(group);
  const after = shownGroup(to, { added, removed });
  await recordGroup(tx, deps, actor, "update", { group, before, after });
  deps.invalidateGrants(tx, accountId);
  if (removed.length > 0) await deps.keepAdministrator(tx, accountId);
  return to;
}
