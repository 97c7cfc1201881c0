import type { Actor } from "../core/actor.ts";
import { fromWire } from "../core/ids.ts";
import type { Page } from "../core/page.ts";
import type { Authorize } from "../access/index.ts";
import type { Db } from "../platform/db/db.ts";
import { problem } from "./problems.ts";
import { countUsers, findUser, findUserByEmail, findUserByName, listUsers } from "./store.ts";
import type { UserDetail } from "./user.ts";

type Deps = { readonly db: Db; readonly authorize: Authorize };

/** One person, by what the text is. Throws `identity.no_user`. */
export type FindUser = (actor: Actor, text: string) => Promise<UserDetail>;

const find =
  (deps: Deps, look: (actor: Actor, text: string) => Promise<UserDetail | undefined>): FindUser =>
  async (actor, text) => {
    deps.authorize(actor, "core_user_view", { accountId: actor.accountId });
    const user = await look(actor, text);
    if (!user) throw problem("identity.no_user");
    return user;
  };

export const makeGetUser = (deps: Deps): FindUser =>
  find(deps, async ({ accountId }, text) => {
    const id = fromWire(text);
    return id && findUser(deps.db, accountId, id);
  });

/** The person of this name; the one who joined first, should two share it. */
export const makeUserByName = (deps: Deps): FindUser =>
  find(deps, ({ accountId }, name) => findUserByName(deps.db, accountId, name));

/** In any case of letters. */
export const makeUserByEmail = (deps: Deps): FindUser =>
  find(deps, ({ accountId }, email) => findUserByEmail(deps.db, accountId, email));

export type ListUsers = (actor: Actor, limit: number, offset: number) => Promise<Page<UserDetail>>;

export const makeListUsers =
  ({ db, authorize }: Deps): ListUsers =>
  async (actor, limit, offset) => {
    const { accountId } = actor;
    authorize(actor, "core_user_view", { accountId });
    const items = await listUsers(db, accountId, limit, offset);
    return { items, limit, offset, total: () => countUsers(db, accountId) };
  };
