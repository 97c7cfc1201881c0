/** People, their tokens, and the question "may X do Y in Z". */
import type { Authorize, GrantsOf } from "../access/index.ts";
import type { Clock } from "../core/clock.ts";
import type { Db } from "../platform/db/db.ts";
import { makeAuthenticate } from "./authenticate.ts";
import { makeGetUser, makeListUsers, makeUserByEmail, makeUserByName } from "./users.ts";

export { firstStart, type FirstFacts } from "./first-start.ts";
export { addIdentityTypes, type UserNode } from "./graphql.ts";
export { anyActive, CREATOR, creatorOf, type CreatorRow } from "./store.ts";
export type { User } from "./user.ts";
export type { Authenticate } from "./authenticate.ts";

export const makeIdentity = (deps: { db: Db; clock: Clock; authorize: Authorize; grantsOf: GrantsOf }) => ({
  authenticate: makeAuthenticate(deps),
  getUser: makeGetUser(deps),
  userByName: makeUserByName(deps),
  userByEmail: makeUserByEmail(deps),
  listUsers: makeListUsers(deps),
});
