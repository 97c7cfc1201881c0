import type { Uuid } from "../../core/ids.ts";
import { commonProblem } from "../../core/problems.ts";
import type { Tx } from "../../platform/db/db.ts";
import { problem } from "../problems.ts";
import { lockGroup } from "../store/user-groups.ts";
import type { GroupWrite, UserGroup } from "./user-group.ts";

/**
 * Locks the group until the end of the transaction. Throws `access.no_group`, `access.externally_managed`, and
 * `core.stale_version` if `version`, which the caller has read, is outdated.
 */
export async function lockGroupFor(
  tx: Tx,
  accountId: Uuid,
  { found: { id, identifier }, writer, version }: GroupWrite & { readonly found: UserGroup },
): Promise<UserGroup> {
  const group = await lockGroup(tx, accountId, id);
  if (!group) throw problem("access.no_group", [identifier]);
  if (writer === "interface" && group.externallyManaged) throw problem("access.externally_managed", [identifier]);
  if (writer === "provider" && !group.externallyManaged) throw problem("access.no_group", [identifier]);
  if (version !== undefined && version !== group.version)
    throw commonProblem("core.stale_version", ["User Group", identifier, String(group.version), String(version)]);
  return group;
}
