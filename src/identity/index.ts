/** Users and service accounts, their API keys and tokens, and authentication. */
import type { RemovedReference, DeletedScope } from "../platform/removed-reference.ts";
import type {
  Authorize,
  GrantsOf,
  GrantsOfAll,
  Dereference,
  PeopleOfScope,
  PreventEscalationTo,
  RequireScope,
  RolesOfPeople,
} from "../access/index.ts";
import type { Audit } from "../audit/index.ts";
import type { Clock } from "../core/clock.ts";
import type { NewId, Uuid } from "../core/ids.ts";
import type { Db, Tx } from "../platform/db/db.ts";
import type { Route } from "../platform/http/routes.ts";
import { createCredentials } from "./authentication/credentials.ts";
import { createApiKey } from "./keys/api-keys/create.ts";
import { deleteApiKey } from "./keys/api-keys/delete.ts";
import { getApiKey } from "./keys/api-keys/get.ts";
import { listApiKeys } from "./keys/api-keys/list.ts";
import { updateApiKey } from "./keys/api-keys/update.ts";
import { findParent } from "./keys/parent.ts";
import { apiKeyRoutes } from "./keys/rest/api-keys.ts";
import { tokenRoutes } from "./keys/rest/tokens.ts";
import { createToken } from "./keys/tokens/create.ts";
import { deleteToken } from "./keys/tokens/delete.ts";
import { listTokens } from "./keys/tokens/list.ts";
import { rotateToken } from "./keys/tokens/rotate.ts";
import type { TokenDeps } from "./keys/tokens/shared.ts";
import { updateToken } from "./keys/tokens/update.ts";
import { createSignInUsers } from "./authentication/sign-in-users.ts";
import { actAs } from "./service-accounts/act-as.ts";
import { requireRunAs } from "./service-accounts/run-as.ts";
import { serviceAccountRoutes } from "./service-accounts/rest.ts";
import { createServiceAccount } from "./service-accounts/create.ts";
import { deleteServiceAccount } from "./service-accounts/delete.ts";
import { getServiceAccount } from "./service-accounts/get.ts";
import { listServiceAccounts } from "./service-accounts/list.ts";
import type { RevokeAccess, ServiceAccountDeps } from "./service-accounts/shared.ts";
import { updateServiceAccount } from "./service-accounts/update.ts";
import { createFindAuthorStates } from "./authentication/author-states.ts";
import { createCheckBeforeCommit, createRevalidateActor } from "./authentication/revalidate-actor.ts";
import { deleteKeysOf } from "./store/keys.ts";
import { deleteServiceAccountsOf } from "./store/service-accounts.ts";
import { createUserAggregates } from "./users/aggregate.ts";
import {
  addUsers,
  createManagedUser,
  deactivateUser,
  deleteManagedUser,
  reactivateUser,
  updateManagedUser,
  type ManageDeps,
  type SetGroups,
} from "./users/manage.ts";
import {
  getCurrentUser,
  getUser,
  listUsers,
  createFindReferencedUsers,
  findUserByEmail,
  findUserByName,
  type FindLockedUsers,
} from "./users/find.ts";
import {
  changeUser,
  createUser,
  deleteUser,
  provisionUser,
  type LifeDeps,
  type RevokeUserAccess,
} from "./users/life-cycle.ts";
import { aggregateRoutes } from "./users/rest/aggregate.ts";
import { userRoutes } from "./users/rest/users.ts";
import type { SelectValid } from "./authentication/credential-watcher.ts";

export { firstStart, type FirstFacts, type FirstStart } from "./first-start.ts";
export {
  authorOf,
  readAuthor,
  type Author,
  type AuthorColumns,
  type AuthorState,
  type FindAuthorStates,
} from "./authentication/author.ts";
export { createSignInUsers } from "./authentication/sign-in-users.ts";
export { addIdentityTypes, type UserNode } from "./graphql.ts";
export { anyActive, CREATOR, creatorJoins, creatorOf, type CreatorRow } from "./store.ts";
export { holdRootKey, createRootKeyOf, type HoldRootKey, type RootKeyOf } from "./root-key.ts";
export { changeRootKey } from "./change-root-key.ts";
export { findServiceAccount, findServiceAccountsById } from "./store/service-accounts.ts";
export { PERSON } from "./store/users.ts";
export type { Profile, StoredUser, User } from "./user.ts";
export { parseEmail, folded } from "./users/fold.ts";
export type { RevalidateActor } from "./authentication/revalidate-actor.ts";
export type { ActAs } from "./service-accounts/act-as.ts";
export type { RequireRunAs } from "./service-accounts/run-as.ts";
export type { ChangeUser, DeleteUser, ProvisionUser } from "./users/life-cycle.ts";
export type { Authenticate } from "./authentication/authenticate.ts";
export type { RevokeUserAccess } from "./users/life-cycle.ts";

export type IdentityDeps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly authorize: Authorize;
  readonly grantsOf: GrantsOf;
  readonly grantsOfAll: GrantsOfAll;
  readonly onAccessChange: (listener: () => void) => void;
  readonly preventEscalationToServiceAccount: PreventEscalationTo;
  readonly requireScope: RequireScope;
  readonly revokeAccess: RevokeAccess;
  readonly dereference: Dereference;
  readonly selectValidSessions: SelectValid;
  readonly onError: (error: unknown) => void;
};

/** The slice without the operations on users (`createUsers`), which need results of this one. */
export function createIdentity(deps: IdentityDeps) {
  const credentials = createCredentials(deps);
  const { notifyCredentialsEnded } = credentials;
  const revalidateActor = createRevalidateActor(deps);
  return {
    ...credentials,
    people: createSignInUsers(deps),
    actAs: actAs(deps),
    requireRunAs: requireRunAs(deps),
    findAuthorStates: createFindAuthorStates(deps),
    revalidateActor,
    checkBeforeCommit: createCheckBeforeCommit({ ...deps, revalidateActor }),
    /** Ends all API keys and tokens of a user in the caller's transaction, and notifies every replica. */
    endTokens: async (tx: Tx, accountId: Uuid, userId: Uuid): Promise<readonly RemovedReference[]> => {
      const keys = await deleteKeysOf(tx, accountId, userId);
      notifyCredentialsEnded(tx);
      return keys;
    },
    /** Deletes everything in a project, or in an organization itself, in the transaction of its deletion. */
    async emptyScope(tx: Tx, scope: DeletedScope): Promise<readonly RemovedReference[]> {
      const gone = await deleteServiceAccountsOf(tx, scope);
      if (gone.length > 0) notifyCredentialsEnded(tx);
      return gone;
    },
    routes: [
      ...createServiceAccountRoutes({ ...deps, notifyCredentialsEnded }),
      ...createKeyRoutes({ ...deps, notifyCredentialsEnded, findParent: findParent(deps) }),
    ],
  };
}

const createServiceAccountRoutes = (deps: ServiceAccountDeps): readonly Route[] =>
  serviceAccountRoutes({
    create: createServiceAccount(deps),
    update: updateServiceAccount(deps),
    delete: deleteServiceAccount(deps),
    get: getServiceAccount(deps),
    list: listServiceAccounts(deps),
  });

const createKeyRoutes = (deps: TokenDeps): readonly Route[] => [
  ...apiKeyRoutes({
    create: createApiKey(deps),
    update: updateApiKey(deps),
    delete: deleteApiKey(deps),
    get: getApiKey(deps),
    list: listApiKeys(deps),
  }),
  ...tokenRoutes({
    create: createToken(deps),
    update: updateToken(deps),
    delete: deleteToken(deps),
    rotate: rotateToken(deps),
    list: listTokens(deps),
  }),
];

type EndTokens = (tx: Tx, accountId: Uuid, userId: Uuid) => Promise<readonly RemovedReference[]>;

/** The operations on users. `revokeAccess` removes what users hold in other slices. */
export function createUsers(
  deps: Omit<LifeDeps, "onLeave"> & {
    readonly revokeAccess: RevokeUserAccess;
    readonly endTokens: EndTokens;
    readonly setGroupsOf: SetGroups;
    readonly findLockedUsers: FindLockedUsers;
    readonly peopleOfScope: PeopleOfScope;
    readonly rolesOfPeople: RolesOfPeople;
  },
) {
  const { authorize, findLockedUsers } = deps;
  const onLeave: RevokeUserAccess = async (tx, user, how) => {
    const keys = await deps.endTokens(tx, user.accountId, user.id);
    return [...(await deps.revokeAccess(tx, user, how)), ...keys];
  };
  const life = { ...deps, onLeave };
  const change = changeUser(life);
  const remove = deleteUser(life);
  const manageDeps: ManageDeps = {
    authorize,
    createUser: createUser(life),
    changeUser: change,
    deleteUser: remove,
    setGroups: deps.setGroupsOf,
  };
  const find = { getUser: getUser(deps), listUsers: listUsers(deps), currentUser: getCurrentUser(deps) };
  return {
    ...find,
    userByName: findUserByName(deps),
    userByEmail: findUserByEmail(deps),
    findReferencedUsers: createFindReferencedUsers(deps),
    findLockedUsers,
    createManagedUser: createManagedUser(manageDeps),
    updateManagedUser: updateManagedUser(manageDeps),
    deleteManagedUser: deleteManagedUser(manageDeps),
    provisionUser: provisionUser(life),
    changeUser: change,
    deleteUser: remove,
    routes: [
      ...userRoutes({
        ...find,
        authorize,
        findLockedUsers,
        addUsers: addUsers(manageDeps),
        deactivate: deactivateUser(manageDeps),
        reactivate: reactivateUser(manageDeps),
        delete: deleteManagedUser(manageDeps),
      }),
      ...aggregateRoutes(createUserAggregates(deps), findLockedUsers),
    ],
  };
}
