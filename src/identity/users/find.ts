import type { Actor } from "../../core/actor.ts";
import { fromWire, type Uuid } from "../../core/ids.ts";
import type { Page, Window } from "../../core/page.ts";
import type { Problem } from "../../core/problem.ts";
import type { Authorize } from "../../access/index.ts";
import type { Db } from "../../platform/db/db.ts";
import { problem } from "../problems.ts";
import type { ServiceAccount } from "../service-accounts/service-account.ts";
import { findServiceAccountsById } from "../store/service-accounts.ts";
import * as store from "../store/users.ts";
import type { User, UserDetail } from "../user.ts";
import { folded } from "./fold.ts";

type Deps = { readonly db: Db; readonly authorize: Authorize };

/** Finds one user. Throws `identity.no_user`. */
export type FindUser = (actor: Actor, text: string) => Promise<UserDetail>;

const find =
  (deps: Deps, lookUp: (actor: Actor, text: string) => Promise<UserDetail | undefined>): FindUser =>
  async (actor, text) => {
    deps.authorize(actor, "core_user_view", { accountId: actor.accountId });
    const user = await lookUp(actor, text);
    if (!user) throw problem("identity.no_user");
    return user;
  };

export const getUser = (deps: Deps): FindUser =>
  find(deps, async ({ accountId }, text) => {
    const id = fromWire(text);
    return id && store.findUser(deps.db, accountId, id);
  });

/** The user with this name; the oldest one if two share it. */
export const findUserByName = (deps: Deps): FindUser =>
  find(deps, ({ accountId }, name) => store.findUserByName(deps.db, accountId, name));

/** Ignores the spelling of the address. */
export const findUserByEmail = (deps: Deps): FindUser =>
  find(deps, ({ accountId }, email) => store.findUserByEmail(deps.db, accountId, folded(email.trim())));

/**
 * Users or service accounts referenced by other rows, in the order of the ids. They may be deleted, so that their rows
 * can still show them. `identity.no_user` for the ids of neither.
 */
export const createFindReferencedUsers =
  (deps: Deps) =>
  async (actor: Actor, ids: readonly Uuid[]): Promise<readonly (UserDetail | Problem)[]> => {
    const { accountId } = actor;
    deps.authorize(actor, "core_user_view", { accountId });
    const users = await store.findFormer(deps.db, accountId, ids);
    const found = new Map(users.map((user) => [user.id, user]));
    const others = ids.filter((id) => !found.has(id));
    const accounts = others.length === 0 ? [] : await findServiceAccountsById(deps.db, accountId, others);
    for (const account of accounts) found.set(account.id, asPerson(account));
    return ids.map((id) => found.get(id) ?? problem("identity.no_user"));
  };

export type FindReferencedUsers = ReturnType<typeof createFindReferencedUsers>;

/** A service account in the shape of a user, without a password. */
const asPerson = ({ id, name, email, createdAt, updatedAt }: ServiceAccount): UserDetail => ({
  id,
  name,
  email,
  givenName: "",
  familyName: "",
  displayName: name,
  userName: null,
  externalId: null,
  emailVerified: false,
  managedExternally: false,
  active: true,
  mustChangePassword: false,
  version: 1,
  createdAt,
  updatedAt,
});

/** The calling user. Needs no permission. Throws `identity.no_person` for other actors. */
export const getCurrentUser =
  ({ db }: Pick<Deps, "db">) =>
  async (actor: Actor): Promise<UserDetail> => {
    const user = actor.kind === "user" ? await store.findUser(db, actor.accountId, actor.id) : undefined;
    if (!user) throw problem("identity.no_person");
    return user;
  };

export type CurrentUser = ReturnType<typeof getCurrentUser>;

/** Those of the users whose sign-in is paused now. The login slice provides it. */
export type FindLockedUsers = (
  accountId: Uuid,
  people: readonly Pick<User, "id" | "email">[],
) => Promise<ReadonlySet<Uuid>>;
export const listUsers =
  ({ db, authorize }: Deps) =>
  async (actor: Actor, filter: store.UserFilter, window: Window): Promise<Page<UserDetail>> => {
    const { accountId } = actor;
    authorize(actor, "core_user_view", { accountId });
    const items = await store.listUsers(db, accountId, { filter, window });
    return { items, ...window, total: () => store.countUsers(db, accountId, filter) };
  };

export type ListUsers = ReturnType<typeof listUsers>;
