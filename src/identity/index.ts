/** People, their tokens, and the question "may X do Y in Z". */
import type { Clock } from "../core/clock.ts";
import type { Db } from "../platform/db/db.ts";
import { makeAuthenticate } from "./authenticate.ts";
import { authorize, permits } from "./permissions.ts";
import { makeGetUser, makeListUsers, makeUserByEmail, makeUserByName } from "./users.ts";

export { firstStart, type FirstFacts } from "./first-start.ts";
export { addIdentityTypes, type UserNode } from "./graphql.ts";
export { CREATOR, creatorOf, type CreatorRow } from "./store.ts";
export type { User } from "./user.ts";
export type { Authenticate } from "./authenticate.ts";
export type { Authorize, Permission, Permits } from "./permissions.ts";

export const makeIdentity = (deps: { db: Db; clock: Clock }) => ({
  authenticate: makeAuthenticate(deps),
  authorize,
  permits,
  getUser: makeGetUser({ db: deps.db, authorize }),
  userByName: makeUserByName({ db: deps.db, authorize }),
  userByEmail: makeUserByEmail({ db: deps.db, authorize }),
  listUsers: makeListUsers({ db: deps.db, authorize }),
});
