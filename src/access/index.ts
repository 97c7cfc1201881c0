/** Who may do what, where: roles, resource groups, assignments and user groups, and the grants that come of them. */
import type { Clock } from "../core/clock.ts";
import type { NewId, Uuid } from "../core/ids.ts";
import type { Db, Tx } from "../platform/db/db.ts";
import { makeMakeAdministrator } from "./furnish.ts";
import { makeGrants } from "./grants.ts";
import { makeKeepAdministrator, type AnyActive } from "./keep-administrator.ts";
import { authorize, permits } from "./permits.ts";
import { deleteAccessOf } from "./store/empty-scope.ts";
import { deleteAssignmentsOf, deleteMembershipsOf } from "./store/leaving.ts";

export { builtInRoles } from "./builtin.ts";
export type { MakeAdministrator } from "./furnish.ts";
export type { GrantsOf } from "./grants.ts";
export type { KeepAdministrator } from "./keep-administrator.ts";
export type { Permission } from "./permission.ts";
export { authorize, permits } from "./permits.ts";
export type { Authorize, Permits } from "./permits.ts";

export type AccessDeps = {
  readonly db: Db;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly anyActive: AnyActive;
  readonly onError: (error: unknown) => void;
};

/** A project that is being deleted, or, without one, an organization. */
type Leaving = {
  readonly accountId: Uuid;
  readonly orgIdentifier: string;
  readonly project: { readonly identifier: string } | null;
};

type LetGo = { readonly accountId: Uuid; readonly id: Uuid };

export function makeAccess(deps: AccessDeps) {
  const { grantsOf, changed, stop } = makeGrants(deps);
  return {
    authorize,
    permits,
    grantsOf,
    keepAdministrator: makeKeepAdministrator(deps),
    makeAdministrator: makeMakeAdministrator(deps),
    /** Somebody loses every membership, and, when they are removed, what was assigned to them alone. */
    letGo: async (tx: Tx, { accountId, id }: LetGo, how: "deactivated" | "deleted"): Promise<void> => {
      await deleteMembershipsOf(tx, accountId, id);
      if (how === "deleted") await deleteAssignmentsOf(tx, accountId, id);
      changed(tx, accountId);
    },
    emptyScope: async (tx: Tx, { accountId, orgIdentifier, project }: Leaving): Promise<void> => {
      await deleteAccessOf(tx, accountId, orgIdentifier, project?.identifier ?? null);
      changed(tx, accountId);
    },
    stop,
  };
}
