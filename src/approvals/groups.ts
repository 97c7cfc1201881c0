import { findGroupsByKeys } from "../access/index.ts";
import type { Uuid } from "../core/ids.ts";
import type { Referred } from "../core/reference.ts";
import type { Store } from "../platform/db/db.ts";
import type { Approval } from "./approval.ts";
import { keysOf, textOf } from "./approvers.ts";

export type NamedGroup = Referred & { readonly name: string };

/** Those of the groups of each approval that exist now, by the id of the approval. */
export async function groupsOf(
  db: Store,
  accountId: Uuid,
  approvals: readonly Approval[],
): Promise<ReadonlyMap<Uuid, readonly NamedGroup[]>> {
  const keys = new Map(approvals.map((one) => [one.id, keysOf(one.request.approvers.userGroups, one)]));
  const all = [...keys.values()].flat();
  const found = all.length === 0 ? [] : await findGroupsByKeys(db, accountId, all);
  const byKey = new Map(found.map((group) => [textOf(group), group]));
  return new Map([...keys].map(([id, wanted]) => [id, wanted.flatMap((key) => byKey.get(textOf(key)) ?? [])] as const));
}
