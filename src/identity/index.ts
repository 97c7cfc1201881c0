/** People and service accounts, their keys and tokens: who it is. */
import type { Gone, Leaving } from "../platform/gone.ts";
import type {
  Authorize,
  GrantsOf,
  GrantsOfAll,
  LeaveGroups,
  PeopleOfScope,
  RequireHeldOf,
  RolesOfPeople,
} from "../access/index.ts";
import type { Audit } from "../audit/index.ts";
import type { Clock } from "../core/clock.ts";
import type { NewId, Uuid } from "../core/ids.ts";
import type { Db, Tx } from "../platform/db/db.ts";
import { makeCredentials } from "./credentials.ts";
import { makeApiKeys } from "./keys/api-keys.ts";
import { makeFindParent } from "./keys/parent.ts";
import { apiKeyRoutes } from "./keys/rest-keys.ts";
import { tokenRoutes } from "./keys/rest-tokens.ts";
import { makeTokens } from "./keys/tokens.ts";
import { makeLogins } from "./logins.ts";
import { makeActAs } from "./service-accounts/act-as.ts";
import { makeRequireRunAs } from "./service-accounts/run-as.ts";
import { serviceAccountRoutes } from "./service-accounts/rest.ts";
import { makeServiceAccounts, type LetGo, type ScopeExists } from "./service-accounts/verbs.ts";
import { makeStandingOf } from "./standing.ts";
import { makeStillActor } from "./still.ts";
import { deleteKeysOf } from "./store/keys.ts";
import { deleteServiceAccountsOf } from "./store/service-accounts.ts";
import { makeUserAggregates } from "./users/aggregate.ts";
import { makePeople, type SetGroups } from "./users/by-hand.ts";
import {
  makeCurrentUser,
  makeGetUser,
  makeListUsers,
  makeRecall,
  makeUserByEmail,
  makeUserByName,
  type LockedAmong,
} from "./users/find.ts";
import {
  makeChangeUser,
  makeCreateUser,
  makeDeleteUser,
  makeProvisionUser,
  type LifeDeps,
  type OnLeave,
} from "./users/life.ts";
import { aggregateRoutes } from "./users/rest-aggregate.ts";
import { userRoutes } from "./users/routes.ts";
import type { StillStanding } from "./watch.ts";

export { firstStart, type FirstFacts, type FirstStart } from "./first-start.ts";
export { authorOf, readAuthor, type Author, type AuthorColumns, type Standing, type StandingOf } from "./author.ts";
export { makeLogins } from "./logins.ts";
export { addIdentityTypes, type UserNode } from "./graphql.ts";
export { anyActive, CREATOR, creatorJoins, creatorOf, type CreatorRow } from "./store.ts";
export { makeHoldRootKey, makeRootKeyOf, type HoldRootKey, type RootKeyOf } from "./root-key.ts";
export { makeChangeRootKey } from "./change-root-key.ts";
export { findServiceAccount } from "./store/service-accounts.ts";
export { PERSON } from "./store/users.ts";
export type { Profile, User, UserDetail } from "./user.ts";
export { emailOf, folded } from "./users/fold.ts";
export type { StillActor } from "./still.ts";
export type { ActAs } from "./service-accounts/act-as.ts";
export type { RequireRunAs } from "./service-accounts/run-as.ts";
export type { ChangeUser, DeleteUser, ProvisionUser } from "./users/life.ts";
export type { Authenticate } from "./authenticate.ts";
export type { OnLeave } from "./users/life.ts";

export type IdentityDeps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly authorize: Authorize;
  readonly grantsOf: GrantsOf;
  readonly grantsOfAll: GrantsOfAll;
  readonly onAccessChange: (listener: () => void) => void;
  readonly requireHeldOf: RequireHeldOf;
  readonly requireScope: ScopeExists;
  readonly letGo: LetGo;
  readonly leaveGroups: LeaveGroups;
  readonly standingSessions: StillStanding;
  readonly onError: (error: unknown) => void;
};

export function makeIdentity(deps: IdentityDeps) {
  const credentials = makeCredentials(deps);
  const { ended } = credentials;
  const findParent = makeFindParent(deps);
  const serviceAccounts = makeServiceAccounts({ ...deps, ended });
  const apiKeys = makeApiKeys({ ...deps, ended, findParent });
  const tokens = makeTokens({ ...deps, ended, findParent });
  const standingOf = makeStandingOf(deps);
  return {
    ...credentials,
    people: makeLogins(deps),
    serviceAccounts,
    actAs: makeActAs(deps),
    requireRunAs: makeRequireRunAs(deps),
    standingOf,
    stillActor: makeStillActor({ ...deps, standingOf }),
    apiKeys,
    tokens,
    /** Ends all keys and tokens of a person in the caller's transaction, and says so on every replica: sessions that end with them, too. */
    async endTokens(tx: Tx, accountId: Uuid, userId: Uuid): Promise<readonly Gone[]> {
      const keys = await deleteKeysOf(tx, accountId, userId);
      ended(tx);
      return keys;
    },
    /** Removes what lives in a project, or in an organization itself, in the transaction of its deletion. */
    async emptyScope(tx: Tx, scope: Leaving): Promise<readonly Gone[]> {
      const gone = await deleteServiceAccountsOf(tx, scope);
      if (gone.length > 0) ended(tx);
      return gone;
    },
    routes: [...serviceAccountRoutes(serviceAccounts), ...apiKeyRoutes(apiKeys), ...tokenRoutes(tokens)],
  };
}

type EndTokens = (tx: Tx, accountId: Uuid, userId: Uuid) => Promise<readonly Gone[]>;

/** The people of accounts and their lives. `letGo` takes away what they hold elsewhere. */
export function makeUsers(
  deps: Omit<LifeDeps, "onLeave"> & {
    readonly letGo: OnLeave;
    readonly endTokens: EndTokens;
    readonly setGroupsOf: SetGroups;
    readonly lockedAmong: LockedAmong;
    readonly peopleOfScope: PeopleOfScope;
    readonly rolesOfPeople: RolesOfPeople;
  },
) {
  const { authorize: may } = deps;
  const onLeave: OnLeave = async (tx, user, how) => {
    const keys = await deps.endTokens(tx, user.accountId, user.id);
    return [...(await deps.letGo(tx, user, how)), ...keys];
  };
  const life = { ...deps, onLeave };
  const verbs = { create: makeCreateUser(life), change: makeChangeUser(life), delete: makeDeleteUser(life) };
  const people = makePeople({ ...verbs, authorize: may, setGroups: deps.setGroupsOf });
  const { lockedAmong } = deps;
  const find = { getUser: makeGetUser(deps), listUsers: makeListUsers(deps), currentUser: makeCurrentUser(deps) };
  return {
    ...find,
    userByName: makeUserByName(deps),
    userByEmail: makeUserByEmail(deps),
    recall: makeRecall(deps),
    lockedAmong,
    people,
    provisionUser: makeProvisionUser(life),
    changeUser: verbs.change,
    deleteUser: verbs.delete,
    routes: [
      ...userRoutes({ ...find, authorize: may, people, lockedAmong }),
      ...aggregateRoutes(makeUserAggregates(deps), lockedAmong),
    ],
  };
}
