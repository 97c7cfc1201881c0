import type { Actor } from "../core/actor.ts";
import type { Db } from "../platform/db/db.ts";
import type { Authorize } from "./permissions.ts";
import { problem } from "./problems.ts";
import { findUserByName } from "./store.ts";
import type { User } from "./user.ts";

/** The person of this name; the one who joined first, should two share it. Throws `identity.no_user`. */
export type FindUserByName = (actor: Actor, name: string) => Promise<User>;

export const makeUserByName =
  (deps: { db: Db; authorize: Authorize }): FindUserByName =>
  async (actor, name) => {
    deps.authorize(actor, "core_user_view", { accountId: actor.accountId });
    const user = await findUserByName(deps.db, actor.accountId, name);
    if (!user) throw problem("identity.no_user");
    return user;
  };
