/** People, their tokens, and the question "may X do Y in Z". */
import type { GrantsOf } from "../access/index.ts";
import type { Clock } from "../core/clock.ts";
import type { Db } from "../platform/db/db.ts";
import { makeAuthenticate } from "./authenticate.ts";
import { problem } from "./problems.ts";
import { deleteTokensOf } from "./store.ts";
import { makePeople, type SetGroups } from "./users/by-hand.ts";
import {
  makeCurrentUser,
  makeGetUser,
  makeListUsers,
  makeRecall,
  makeUserByEmail,
  makeUserByName,
} from "./users/find.ts";
import {
  makeChangeUser,
  makeCreateUser,
  makeDeleteUser,
  makeProvisionUser,
  type LifeDeps,
  type OnLeave,
} from "./users/life.ts";
import { userRoutes } from "./users/routes.ts";

export { firstStart, type FirstFacts, type FirstStart } from "./first-start.ts";
export { addIdentityTypes, type UserNode } from "./graphql.ts";
export { anyActive, CREATOR, creatorOf, type CreatorRow } from "./store.ts";
export { makeHoldRootKey, makeRootKeyOf, type HoldRootKey, type RootKeyOf } from "./root-key.ts";
export type { User } from "./user.ts";
export type { Authenticate } from "./authenticate.ts";

export const makeIdentity = (deps: { db: Db; clock: Clock; grantsOf: GrantsOf }) => ({
  authenticate: makeAuthenticate(deps),
});

/** The people of accounts and their lives. `onLeave` takes away what they hold elsewhere. */
export function makeUsers(deps: Omit<LifeDeps, "onLeave"> & { readonly onLeave: OnLeave }) {
  const { authorize: may } = deps;
  const onLeave: OnLeave = async (tx, user, how) => {
    await deleteTokensOf(tx, user.accountId, user.id);
    await deps.onLeave(tx, user, how);
  };
  const life = { ...deps, onLeave };
  const verbs = { create: makeCreateUser(life), change: makeChangeUser(life), delete: makeDeleteUser(life) };
  const people = makePeople({ ...verbs, authorize: may, setGroups: noGroups });
  const find = { getUser: makeGetUser(deps), listUsers: makeListUsers(deps), currentUser: makeCurrentUser(deps) };
  return {
    ...find,
    userByName: makeUserByName(deps),
    userByEmail: makeUserByEmail(deps),
    recall: makeRecall(deps),
    people,
    provisionUser: makeProvisionUser(life),
    changeUser: verbs.change,
    deleteUser: verbs.delete,
    routes: userRoutes({ ...find, authorize: may, people }),
  };
}

const noGroups: SetGroups = async (_tx, _actor, _userId, [first]) => {
  if (first !== undefined) throw problem("identity.no_group", [first]);
};
