/**
 * What is deleted is named by no resource group any more: whoever makes another thing under its identifier does not give
 * it to those who had a role over the former one.
 */
import type { Uuid } from "../core/ids.ts";
import type { Place } from "../core/reference.ts";
import type { Tx } from "../platform/db/db.ts";
import type { Gone, Leaving } from "../platform/gone.ts";
import type { Nameable } from "./permission.ts";
import { takeOutOfGroups } from "./store/leave-groups.ts";

/**
 * To be called by every deletion of something that resource groups can name, in its transaction, after the thing itself is locked:
 * nobody who holds a group waits for anything that it can name, but for other groups, which are locked by id. Answers, for the trail,
 * which groups named it. What lies in a scope that is deleted is named by groups of that scope, which go along.
 */
export type LeaveGroups = (
  tx: Tx,
  accountId: Uuid,
  place: Place,
  names: { readonly [Type in Nameable]?: string | readonly string[] },
) => Promise<readonly Gone[]>;

type Deps = { readonly changed: (tx: Tx, accountId: Uuid) => void };

export const makeLeaveGroups =
  ({ changed }: Deps): LeaveGroups =>
  async (tx, accountId, place, names) => {
    const given = Object.entries(names).map(([type, some]) => [type, [some].flat()] as const);
    if (given.every(([, some]) => some.length === 0)) return [];
    const groups = await takeOutOfGroups(tx, accountId, place, Object.fromEntries(given));
    if (groups.length > 0) changed(tx, accountId);
    return groups;
  };

/** The same for a project, which is a thing of its organization, or an organization, one of the account. */
export const takeScopeOut = (tx: Tx, scope: Leaving): Promise<readonly Gone[]> => {
  const { accountId, orgIdentifier, projectIdentifier } = scope;
  const [around, names] =
    projectIdentifier === null
      ? [null, { ORGANIZATION: [orgIdentifier] }]
      : [orgIdentifier, { PROJECT: [projectIdentifier] }];
  return takeOutOfGroups(tx, accountId, { orgIdentifier: around, projectIdentifier: null }, names, scope);
};
