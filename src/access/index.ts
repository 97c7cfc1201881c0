/** Roles, resource groups, assignments and user groups, and the grants that result from them. */
import type { RemovedReference, DeletedScope } from "../platform/removed-reference.ts";
import type { Audit } from "../audit/index.ts";
import type { Clock } from "../core/clock.ts";
import type { NewId, Uuid } from "../core/ids.ts";
import type { Db, Tx } from "../platform/db/db.ts";
import { checkAccess } from "./acl/acl.ts";
import { explainPermission } from "./acl/principals/explain.ts";
import { listPrincipals } from "./acl/principals/list.ts";
import { principalRoutes } from "./acl/principals/rest.ts";
import { accessRoutes } from "./acl/rest.ts";
import { assignmentRoutes } from "./assignments/rest.ts";
import type { FindServiceAccount } from "./assignments/deps.ts";
import { createAssignments } from "./assignments/index.ts";
import { createAdministrator } from "./administrators/create-administrator.ts";
import { createGrants } from "./grants/grants.ts";
import { dereference, dereferenceScope } from "./references/dereference.ts";
import {
  requireAllPermissions,
  preventEscalationToServiceAccount,
  preventEscalationToUser,
} from "./grants/escalation.ts";
import { keepAdministrator, type AnyActive } from "./administrators/keep-administrator.ts";
import { authorize, permits } from "./grants/permits.ts";
import { resourceGroupRoutes } from "./resource-groups/rest.ts";
import { createResourceGroups } from "./resource-groups/index.ts";
import { roleRoutes } from "./roles/rest.ts";
import { createRoles } from "./roles/index.ts";
import { setGroupsOf } from "./user-groups/update/set-groups-of.ts";
import { createUserGroups } from "./user-groups/index.ts";
import { userGroupRoutes } from "./user-groups/rest.ts";
import { findPeopleOfScope } from "./people/of-scope.ts";
import { findRolesOfPeople } from "./people/roles-of.ts";
import type { RequireScope } from "./places.ts";
import { deleteAccessOf } from "./store/empty-scope.ts";
import { deleteAssignmentsOf, deleteMembershipsOf } from "./store/removed-grants.ts";

export { builtInRoles } from "./builtin.ts";
export type { CreateAdministrator } from "./administrators/create-administrator.ts";
export type { GrantsOf, GrantsOfAll, Principal } from "./grants/grants.ts";
export { holdsAll } from "./grants/escalation.ts";
export type { RequireAllPermissions, PreventEscalationTo } from "./grants/escalation.ts";
export { dereference, type Dereference } from "./references/dereference.ts";
export type { KeepAdministrator } from "./administrators/keep-administrator.ts";
export type { PeopleOfScope } from "./people/of-scope.ts";
export type { RoleOfPerson, RolesOfPeople } from "./people/roles-of.ts";
export type { Permission } from "./grants/permission.ts";
export { placeOf, type RequireScope } from "./places.ts";
export { saveInScope } from "./save-in-scope.ts";
export {
  authorize,
  authorizeSomewhere,
  holdsSomewhere,
  permits,
  reach,
  refusalOf,
  seen,
  type Reach,
} from "./grants/permits.ts";
export type { ReferenceSource } from "./references/describe-referencing.ts";
export { createExist, type Exist } from "./references/exist.ts";
export { createReferences, type RecordReferences } from "./references/references.ts";
export type { ListUsedBy } from "./references/used-by.ts";
export { usedByRoute } from "./references/used-by-route.ts";
export { listed, type Listed } from "./grants/listed.ts";
export { findGroupAddresses } from "./store/members.ts";
export { findGroupsByKeys, findGroupsOfUser, isMember } from "./store/user-groups.ts";
export { columnsOf } from "./store/named.ts";
export { within } from "./store/reach.ts";
export type { Authorize, Permits } from "./grants/permits.ts";

export { addUserGroupTypes, type UserGroupNode } from "./user-groups/graphql.ts";
export type { UserGroups } from "./user-groups/index.ts";
export { identifierOf, type FilledGroup } from "./user-groups/user-group.ts";
export type { GroupChange } from "./user-groups/update/change-group.ts";

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

type RevokeAccess = { readonly accountId: Uuid; readonly id: Uuid };

/** Listens to the database for changed grants until `stop`. */
export function createAccess(deps: AccessDeps) {
  const { grantsOf, grantsOfAll, invalidateGrants, onChange, stop } = createGrants(deps);
  const { db, audit, clock, newId, requireScope, anyActive, findServiceAccount } = deps;
  const operationDeps = {
    db,
    audit,
    clock,
    newId,
    requireScope,
    findServiceAccount,
    invalidateGrants,
    keepAdministrator: keepAdministrator({ anyActive }),
    dereference: dereference({ invalidateGrants }),
  };
  const userGroups = createUserGroups(operationDeps);
  const roles = createRoles(operationDeps);
  const resourceGroups = createResourceGroups(operationDeps);
  const assignments = createAssignments(operationDeps);
  return {
    authorize,
    permits,
    grantsOf,
    grantsOfAll,
    onAccessChange: onChange,
    preventEscalationToServiceAccount,
    preventEscalationToUser,
    requireAllPermissions,
    keepAdministrator: operationDeps.keepAdministrator,
    dereference: operationDeps.dereference,
    userGroups,
    setGroupsOf: setGroupsOf(operationDeps),
    peopleOfScope: findPeopleOfScope(deps),
    rolesOfPeople: findRolesOfPeople(deps),
    routes: [
      ...userGroupRoutes(userGroups),
      ...roleRoutes(roles),
      ...resourceGroupRoutes(resourceGroups),
      ...assignmentRoutes(assignments, { listRoles: roles.list, listResourceGroups: resourceGroups.list }),
      ...accessRoutes(checkAccess({ grantsOf })),
      ...principalRoutes({ list: listPrincipals(operationDeps), explain: explainPermission(operationDeps) }),
    ],
    createAdministrator: createAdministrator(deps),
    /** Removes all memberships and, for a deleted account, the roles assigned to it directly. */
    revokeAccess: async (
      tx: Tx,
      { accountId, id }: RevokeAccess,
      how: "deactivated" | "deleted",
    ): Promise<readonly RemovedReference[]> => {
      const memberships = await deleteMembershipsOf(tx, accountId, id);
      const assignments = how === "deleted" ? await deleteAssignmentsOf(tx, accountId, id) : [];
      invalidateGrants(tx, accountId);
      return [...assignments, ...memberships];
    },
    emptyScope: async (tx: Tx, scope: DeletedScope): Promise<readonly RemovedReference[]> => {
      const all = [...(await deleteAccessOf(tx, scope)), ...(await dereferenceScope(tx, scope))];
      invalidateGrants(tx, scope.accountId);
      return all;
    },
    stop,
  };
}
