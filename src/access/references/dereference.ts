/**
 * Removes a deleted resource from resource groups, so that a new resource with the same identifier is not granted to
 * principals of the former one.
 */
import type { Uuid } from "../../core/ids.ts";
import type { Place } from "../../core/reference.ts";
import type { Tx } from "../../platform/db/db.ts";
import type { RemovedReference, DeletedScope } from "../../platform/removed-reference.ts";
import type { ReferencableType } from "../grants/permission.ts";
import { removeFromGroups } from "../store/dereference.ts";
type Deps = { readonly invalidateGrants: (tx: Tx, accountId: Uuid) => void };

/**
 * Called by every deletion of a resource that resource groups can name, in its transaction, after locking the resource.
 * It cannot deadlock: a transaction that holds a group locks only further groups, in the order of their ids. Returns
 * the affected groups for the audit trail. Groups of a deleted scope are deleted with it.
 */
export const dereference =
  ({ invalidateGrants }: Deps) =>
  async (
    tx: Tx,
    accountId: Uuid,
    place: Place,
    names: { readonly [Type in ReferencableType]?: string | readonly string[] },
  ): Promise<readonly RemovedReference[]> => {
    const given = Object.entries(names).map(([type, some]) => [type, [some].flat()] as const);
    if (given.every(([, some]) => some.length === 0)) return [];
    const groups = await removeFromGroups(tx, accountId, { place, names: Object.fromEntries(given) });
    if (groups.length > 0) invalidateGrants(tx, accountId);
    return groups;
  };

/** Removes deleted resources from resource groups, in the transaction of their deletion. Returns the changed groups. */
export type Dereference = ReturnType<typeof dereference>;

/**
 * The same for a deleted project, which its organization's groups name, or an organization, which those of the account
 * name.
 */
export const dereferenceScope = (tx: Tx, scope: DeletedScope): Promise<readonly RemovedReference[]> => {
  const { accountId, orgIdentifier, projectIdentifier } = scope;
  const [around, names] =
    projectIdentifier === null
      ? [null, { ORGANIZATION: [orgIdentifier] }]
      : [orgIdentifier, { PROJECT: [projectIdentifier] }];
  return removeFromGroups(tx, accountId, { place: { orgIdentifier: around, projectIdentifier: null }, names, scope });
};
