/** Who may do what, where: roles, resource groups, assignments and user groups, and the grants that come of them. */
import type { Gone, Leaving } from "../platform/gone.ts";
import type { Audit } from "../audit/index.ts";
import type { Clock } from "../core/clock.ts";
import type { NewId, Uuid } from "../core/ids.ts";
import type { Db, Tx } from "../platform/db/db.ts";
import { makeAskAccess } from "./acl/acl.ts";
import { accessRoutes } from "./acl/rest.ts";
import { assignmentRoutes } from "./assignments/rest.ts";
import { makeAssignments, type FindServiceAccount } from "./assignments/verbs.ts";
import { makeMakeAdministrator } from "./furnish.ts";
import { makeGrants } from "./grants.ts";
import { makeLeaveGroups, takeScopeOut } from "./leave-groups.ts";
import { requireEverythingHeld, requireHeldOf, requireHeldOfPerson } from "./held.ts";
import { makeKeepAdministrator, type AnyActive } from "./keep-administrator.ts";
import { authorize, permits } from "./permits.ts";
import { resourceGroupRoutes } from "./resource-groups/rest.ts";
import { makeResourceGroups } from "./resource-groups/verbs.ts";
import { roleRoutes } from "./roles/rest.ts";
import { makeRoles } from "./roles/verbs.ts";
import { makeSetGroupsOf } from "./user-groups/groups-of.ts";
import { makeUserGroups } from "./user-groups/index.ts";
import { userGroupRoutes } from "./user-groups/rest.ts";
import { makePeople } from "./people.ts";
import type { RequireScope } from "./places.ts";
import { deleteAccessOf } from "./store/empty-scope.ts";
import { deleteAssignmentsOf, deleteMembershipsOf } from "./store/leaving.ts";

export { builtInRoles } from "./builtin.ts";
export type { MakeAdministrator } from "./furnish.ts";
export type { GrantsOf, GrantsOfAll, Principal } from "./grants.ts";
export { holdsAll } from "./held.ts";
export type { RequireEverythingHeld, RequireHeldOf } from "./held.ts";
export { makeLeaveGroups, type LeaveGroups } from "./leave-groups.ts";
export type { KeepAdministrator } from "./keep-administrator.ts";
export type { PeopleOfScope, RoleOfPerson, RolesOfPeople } from "./people.ts";
export type { Permission } from "./permission.ts";
export { placeOf } from "./places.ts";
export { authorize, authorizeSomewhere, holdsSomewhere, permits, reach, seen, type Reach } from "./permits.ts";
export type { Namer } from "./users-told.ts";
export { makeExist, makeFindIds, type Exist, type FindIds } from "./exist.ts";
export { makeUses, type NoteUses } from "./uses.ts";
export { listed, type Listed } from "./listed.ts";
export { columnsOf } from "./store/named.ts";
export { within } from "./store/reach.ts";
export type { Authorize, Permits } from "./permits.ts";

export { addUserGroupTypes, type UserGroupNode } from "./user-groups/graphql.ts";
export type { UserGroups } from "./user-groups/index.ts";
export { identifierOf, type FilledGroup } from "./user-groups/user-group.ts";
export type { GroupChange } from "./user-groups/write.ts";

export type AccessDeps = {
  readonly audit: Audit;
  readonly requireScope: RequireScope;
  readonly db: Db;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly anyActive: AnyActive;
  readonly findServiceAccount: FindServiceAccount;
  readonly onError: (error: unknown) => void;
};

type LetGo = { readonly accountId: Uuid; readonly id: Uuid };

export function makeAccess(deps: AccessDeps) {
  const { grantsOf, grantsOfAll, changed, onChange, stop } = makeGrants(deps);
  const keepAdministrator = makeKeepAdministrator(deps);
  const leaveGroups = makeLeaveGroups({ changed });
  const kept = { ...deps, changed, keepAdministrator, leaveGroups };
  const userGroups = makeUserGroups(kept);
  const [roles, resourceGroups, assignments] = [makeRoles(kept), makeResourceGroups(kept), makeAssignments(kept)];
  return {
    authorize,
    permits,
    grantsOf,
    grantsOfAll,
    onAccessChange: onChange,
    requireHeldOf,
    requireHeldOfPerson,
    requireEverythingHeld,
    keepAdministrator,
    leaveGroups,
    userGroups,
    setGroupsOf: makeSetGroupsOf(kept),
    ...makePeople(deps),
    routes: [
      ...userGroupRoutes(userGroups),
      ...roleRoutes(roles),
      ...resourceGroupRoutes(resourceGroups),
      ...assignmentRoutes(assignments, { roles, resourceGroups }),
      ...accessRoutes(makeAskAccess({ grantsOf })),
    ],
    makeAdministrator: makeMakeAdministrator(deps),
    /** Somebody loses every membership, and, when they are removed, what was assigned to them alone. */
    letGo: async (tx: Tx, { accountId, id }: LetGo, how: "deactivated" | "deleted"): Promise<readonly Gone[]> => {
      const memberships = await deleteMembershipsOf(tx, accountId, id);
      const assignments = how === "deleted" ? await deleteAssignmentsOf(tx, accountId, id) : [];
      changed(tx, accountId);
      return [...assignments, ...memberships];
    },
    emptyScope: async (tx: Tx, scope: Leaving): Promise<readonly Gone[]> => {
      const all = [...(await deleteAccessOf(tx, scope)), ...(await takeScopeOut(tx, scope))];
      changed(tx, scope.accountId);
      return all;
    },
    stop,
  };
}
