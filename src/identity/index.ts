/** Users and service accounts, their API keys and tokens, and authentication. */
import type { RemovedReference, Leaving } from "../platform/removed-reference.ts";
import type {
  Authorize,
  GrantsOf,
  GrantsOfAll,
  Dereference,
  PeopleOfScope,
  PreventEscalationTo,
  RolesOfPeople,
} from "../access/index.ts";
import type { Audit } from "../audit/index.ts";
import type { Clock } from "../core/clock.ts";
import type { NewId, Uuid } from "../core/ids.ts";
import type { Db, Tx } from "../platform/db/db.ts";
import { createCredentials } from "./authentication/credentials.ts";
import { createApiKeys } from "./keys/api-keys.ts";
import { findParent } from "./keys/parent.ts";
import { apiKeyRoutes } from "./keys/rest-keys.ts";
import { tokenRoutes } from "./keys/rest-tokens.ts";
import { createTokens } from "./keys/tokens.ts";
import { createSignInUsers } from "./authentication/sign-in-users.ts";
import { actAs } from "./service-accounts/act-as.ts";
import { requireRunAs } from "./service-accounts/run-as.ts";
import { serviceAccountRoutes } from "./service-accounts/rest.ts";
import { createServiceAccounts, type RevokeAccess, type ScopeExists } from "./service-accounts/operations.ts";
import { createFindAuthorStates } from "./authentication/author-states.ts";
import { createCheckBeforeCommit, createRevalidateActor } from "./authentication/revalidate-actor.ts";
import { deleteKeysOf } from "./store/keys.ts";
import { deleteServiceAccountsOf } from "./store/service-accounts.ts";
import { createUserAggregates } from "./users/aggregate.ts";
import { createUserOperations, type SetGroups } from "./users/operations.ts";
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
import { aggregateRoutes } from "./users/rest-aggregate.ts";
import { userRoutes } from "./users/rest.ts";
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
export { findServiceAccount } from "./store/service-accounts.ts";
export { PERSON } from "./store/users.ts";
export type { Profile, User, UserDetail } from "./user.ts";
export { emailOf, folded } from "./users/fold.ts";
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
  readonly requireScope: ScopeExists;
  readonly revokeAccess: RevokeAccess;
  readonly dereference: Dereference;
  readonly selectValidSessions: SelectValid;
  readonly onError: (error: unknown) => void;
};

export function createIdentity(deps: IdentityDeps) {
  const credentials = createCredentials(deps);
  const { notifyCredentialsEnded } = credentials;
  const keyDeps = { ...deps, notifyCredentialsEnded, findParent: findParent(deps) };
  const serviceAccounts = createServiceAccounts({ ...deps, notifyCredentialsEnded });
  const apiKeys = createApiKeys(keyDeps);
  const tokens = createTokens(keyDeps);
  const findAuthorStates = createFindAuthorStates(deps);
  const revalidateActor = createRevalidateActor(deps);
  return {
    ...credentials,
    people: createSignInUsers(deps),
    serviceAccounts,
    actAs: actAs(deps),
    requireRunAs: requireRunAs(deps),
    findAuthorStates,
    revalidateActor,
    checkBeforeCommit: createCheckBeforeCommit({ ...deps, revalidateActor }),
    apiKeys,
    tokens,
    /** Ends all API keys and tokens of a user in the caller's transaction, and notifies every replica. */
    endTokens: async (tx: Tx, accountId: Uuid, userId: Uuid): Promise<readonly RemovedReference[]> => {
      const keys = await deleteKeysOf(tx, accountId, userId);
      notifyCredentialsEnded(tx);
      return keys;
    },
    /** Deletes everything in a project, or in an organization itself, in the transaction of its deletion. */
    async emptyScope(tx: Tx, scope: Leaving): Promise<readonly RemovedReference[]> {
      const gone = await deleteServiceAccountsOf(tx, scope);
      if (gone.length > 0) notifyCredentialsEnded(tx);
      return gone;
    },
    routes: [...serviceAccountRoutes(serviceAccounts), ...apiKeyRoutes(apiKeys), ...tokenRoutes(tokens)],
  };
}

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
  const { authorize: may } = deps;
  const onLeave: RevokeUserAccess = async (tx, user, how) => {
    const keys = await deps.endTokens(tx, user.accountId, user.id);
    return [...(await deps.revokeAccess(tx, user, how)), ...keys];
  };
  const life = { ...deps, onLeave };
  const operations = { create: createUser(life), change: changeUser(life), delete: deleteUser(life) };
  const people = createUserOperations({ ...operations, authorize: may, setGroups: deps.setGroupsOf });
  const { findLockedUsers } = deps;
  const find = { getUser: getUser(deps), listUsers: listUsers(deps), currentUser: getCurrentUser(deps) };
  return {
    ...find,
    userByName: findUserByName(deps),
    userByEmail: findUserByEmail(deps),
    findReferencedUsers: createFindReferencedUsers(deps),
    findLockedUsers,
    people,
    provisionUser: provisionUser(life),
    changeUser: operations.change,
    deleteUser: operations.delete,
    routes: [
      ...userRoutes({ ...find, authorize: may, people, findLockedUsers }),
      ...aggregateRoutes(createUserAggregates(deps), findLockedUsers),
    ],
  };
}
