/**
 * What is deleted is named by no resource group any more: whoever makes another thing under its identifier does not give
 * it to those who had a role over the former one.
 */
import type { Uuid } from "../core/ids.ts";
import type { Place } from "../core/reference.ts";
import type { Tx } from "../platform/db/db.ts";
import type { RemovedReference, Leaving } from "../platform/removed-reference.ts";
import type { ReferencableType } from "./permission.ts";
import { takeOutOfGroups } from "./store/leave-groups.ts";
type Deps = { readonly changed: (tx: Tx, accountId: Uuid) => void };

/**
 * To be called by every deletion of something that resource groups can name, in its transaction, after the thing itself is locked:
 * nobody who holds a group waits for anything that it can name, but for other groups, which are locked by id. Answers, for the trail,
 * which groups named it. What lies in a scope that is deleted is named by groups of that scope, which go along.
 */
export const leaveGroups =
  ({ changed }: Deps) =>
  async (
    tx: Tx,
    accountId: Uuid,
    place: Place,
    names: { readonly [Type in ReferencableType]?: string | readonly string[] },
  ): Promise<readonly RemovedReference[]> => {
    const given = Object.entries(names).map(([type, some]) => [type, [some].flat()] as const);
    if (given.every(([, some]) => some.length === 0)) return [];
    const groups = await takeOutOfGroups(tx, accountId, place, Object.fromEntries(given));
    if (groups.length > 0) changed(tx, accountId);
    return groups;
  };

export type LeaveGroups = ReturnType<typeof leaveGroups>;

/** The same for a project, which is a thing of its organization, or an organization, one of the account. */
export const takeScopeOut = (tx: Tx, scope: Leaving): Promise<readonly RemovedReference[]> => {
  const { accountId, orgIdentifier, projectIdentifier } = scope;
  const [around, names] =
    projectIdentifier === null
      ? [null, { ORGANIZATION: [orgIdentifier] }]
      : [orgIdentifier, { PROJECT: [projectIdentifier] }];
  return takeOutOfGroups(tx, accountId, { orgIdentifier: around, projectIdentifier: null }, names, scope);
};
