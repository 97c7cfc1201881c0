import type { Actor } from "../core/actor.ts";
import { fromWire, type Uuid } from "../core/ids.ts";
import type { Page, Window } from "../core/page.ts";
import { scopeOf, type Place } from "../core/reference.ts";
import { authorizeSomewhere, listed, type Authorize } from "../access/index.ts";
import type { Db } from "../platform/db/db.ts";
import type { RequireScope } from "../projects/index.ts";
import { problem } from "./problems.ts";
import type { AskedType, Secret, SecretFilter, SecretKey } from "./secret.ts";
import { countSecrets, findSecret, findSecretById, findSecretByName, listSecrets } from "./store/secrets.ts";

/** How a caller names a secret. With `type`, one of another type is not there. */
export type SecretRef = { readonly type?: AskedType | null | undefined } & (
  | { readonly by: "id"; readonly id: string }
  | { readonly by: "name"; readonly name: string }
  | { readonly by: "identifier"; readonly key: SecretKey }
);

type Permission = Parameters<Authorize>[1];

/** Asked before a request's input is looked at, of any place unless told where; the verbs ask again where the secret lives. */
export type Permit = (actor: Actor, permission: Permission, place?: Place) => void;

export const makePermit =
  ({ authorize }: Pick<Deps, "authorize">): Permit =>
  (actor, permission, place) =>
    place ? authorize(actor, permission, scopeOf(actor.accountId, place)) : authorizeSomewhere(actor, permission);

type Deps = { readonly db: Db; readonly authorize: Authorize };

/** The secret, once the actor holds the permission where it lives. Throws `secret.not_found`. */
export async function findPermitted(deps: Deps, actor: Actor, permission: Permission, ref: SecretRef): Promise<Secret> {
  const found = await find(deps.db, actor.accountId, ref);
  // Nothing may be learnt from the order: whoever lacks the permission hears so before what is there.
  const place = found ?? (ref.by === "identifier" ? ref.key : { orgIdentifier: null, projectIdentifier: null });
  const identifier = found?.identifier ?? (ref.by === "identifier" ? ref.key.identifier : undefined);
  deps.authorize(actor, permission, scopeOf(actor.accountId, place), identifier);
  if (found && (!ref.type || found.type === ref.type)) return found;
  throw notFound(ref);
}

export function notFound(ref: SecretRef): Error {
  if (ref.by === "id") return problem("secret.not_found", ["id", ref.id]);
  if (ref.by === "name") return problem("secret.not_found", ["name", ref.name]);
  return problem("secret.not_found", ["identifier", ref.key.identifier]);
}

async function find(db: Db, accountId: Uuid, ref: SecretRef): Promise<Secret | undefined> {
  if (ref.by === "name") return findSecretByName(db, accountId, ref.name, ref.type ?? null);
  if (ref.by === "identifier") return findSecret(db, accountId, ref.key);
  const id = fromWire(ref.id);
  return id && findSecretById(db, accountId, id);
}

/** Throws `secret.not_found`. */
export type GetSecret = (actor: Actor, ref: SecretRef) => Promise<Secret>;

export const makeGetSecret =
  (deps: Deps): GetSecret =>
  (actor, ref) =>
    findPermitted(deps, actor, "core_secret_view", ref);

/** Whether a new secret may have this identifier in that place. */
export type IsSecretFree = (actor: Actor, key: SecretKey) => Promise<boolean>;

export const makeIsSecretFree =
  (deps: Deps): IsSecretFree =>
  async (actor, key) => {
    deps.authorize(actor, "core_secret_view", scopeOf(actor.accountId, key), key.identifier);
    return (await findSecret(deps.db, actor.accountId, key)) === undefined;
  };

/** Secrets of one place, by identifier unless told otherwise. Throws what RequireScope throws. */
export type ListSecrets = (actor: Actor, filter: SecretFilter, window: Window) => Promise<Page<Secret>>;

export const makeListSecrets =
  (deps: Deps & { readonly requireScope: RequireScope }): ListSecrets =>
  async (actor, given, window) => {
    const shown = listed(actor, "core_secret_view", scopeOf(actor.accountId, given));
    const identifiers = shown && (given.identifiers?.filter((one) => shown.includes(one)) ?? shown);
    const filter = { ...given, identifiers: shown ? identifiers : given.identifiers };
    await deps.requireScope(actor, filter);
    const items = await listSecrets(deps.db, actor.accountId, filter, window);
    return { items, ...window, total: () => countSecrets(deps.db, actor.accountId, filter) };
  };
