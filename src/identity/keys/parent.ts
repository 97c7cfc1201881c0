/** Finds the owner of the keys and tokens of a request, and checks the actor's permission. */
import type { Actor } from "../../core/actor.ts";
import { fromWire, toWire } from "../../core/ids.ts";
import { scopeOf } from "../../core/reference.ts";
import type { Db } from "../../platform/db/db.ts";
import type { Authorize } from "../../access/index.ts";
import { problem } from "../problems.ts";
import { findServiceAccount } from "../store/service-accounts.ts";
import { findUser } from "../store/users.ts";
import type { Parent, ParentRef } from "./api-key.ts";

/** `make` stands for create, change and rotate: the caller sees, or decides over, a token that acts as the owner. */
export type Purpose = "make" | "end" | "view";

/**
 * Finds the owner. Only the user creates keys of a user, without a permission; administrators of users may list and
 * delete them. Those of a service account need `core_serviceaccount_manageapikey`. Throws
 * `identity.personal_key_scope`, `identity.not_your_key`, `identity.no_parent`, `identity.no_user`,
 * `service_account.not_found`.
 */
export const findParent =
  (deps: { db: Db; authorize: Authorize }) =>
  (actor: Actor, ref: ParentRef, purpose: Purpose): Promise<Parent> =>
    ref.type === "USER" ? person(deps, actor, ref, purpose) : serviceAccount(deps, actor, ref);

export type FindParent = ReturnType<typeof findParent>;

async function person(
  deps: { db: Db; authorize: Authorize },
  actor: Actor,
  { parentIdentifier, ...place }: ParentRef,
  purpose: Purpose,
): Promise<Parent> {
  const { accountId } = actor;
  if (place.orgIdentifier !== null || place.projectIdentifier !== null) throw problem("identity.personal_key_scope");
  const own = actor.kind === "user" ? toWire(actor.id) : undefined;
  const identifier = parentIdentifier ?? own;
  if (identifier === undefined) throw problem("identity.no_parent");
  const of = { type: "USER", orgIdentifier: null, projectIdentifier: null, identifier } as const;
  if (actor.kind === "user" && identifier === own) return { ...of, id: actor.id, name: actor.name, email: actor.email };
  // Checked before the lookup, so that the answer does not reveal whether the user exists.
  if (purpose === "make") throw problem("identity.not_your_key");
  deps.authorize(actor, "core_user_manage", { accountId });
  const id = fromWire(identifier);
  const user = id && (await findUser(deps.db, accountId, id));
  if (!user) throw problem("identity.no_user");
  return { ...of, id: user.id, name: user.name, email: user.email };
}

async function serviceAccount(
  deps: { db: Db; authorize: Authorize },
  actor: Actor,
  { parentIdentifier, orgIdentifier, projectIdentifier }: ParentRef,
): Promise<Parent> {
  const { accountId } = actor;
  if (parentIdentifier === undefined) throw problem("identity.no_parent");
  const key = { orgIdentifier, projectIdentifier, identifier: parentIdentifier };
  deps.authorize(actor, "core_serviceaccount_manageapikey", scopeOf(accountId, key));
  const found = await findServiceAccount(deps.db, accountId, key);
  if (!found) throw problem("service_account.not_found", [parentIdentifier]);
  return { ...key, type: "SERVICE_ACCOUNT", id: found.id, name: found.name, email: found.email };
}
