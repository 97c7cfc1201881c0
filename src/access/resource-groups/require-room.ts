import type { Uuid } from "../../core/ids.ts";
import type { Place } from "../../core/reference.ts";
import type { Tx } from "../../platform/db/db.ts";
import { problem } from "../problems.ts";
import { lockNumber } from "../store/assignments.ts";
import { countEntries } from "../store/resource-groups.ts";

/** Grants are made from the entries of the groups, so their number is the cost of reading a principal's grants. */
const MAX_ENTRIES = 10_000;

/** Called after a group is written. Throws `access.too_many_entries` if the groups of its scope have too many. */
export async function requireRoom(tx: Tx, accountId: Uuid, place: Place): Promise<void> {
  await lockNumber(tx, accountId, "resource-group-entries");
  if ((await countEntries(tx, accountId, place)) > MAX_ENTRIES)
    throw problem("access.too_many_entries", [`${MAX_ENTRIES}`]);
}
