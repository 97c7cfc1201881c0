/** Reads secrets for users: one, a list, and whether an identifier is free. use/resolve.ts finds them for executions. */
import type { Actor } from "../core/actor.ts";
import { fromWire, type Uuid } from "../core/ids.ts";
import type { Page, Window } from "../core/page.ts";
import { scopeOf, type Place } from "../core/reference.ts";
import { authorizeSomewhere, listed, type Authorize } from "../access/index.ts";
import type { Db } from "../platform/db/db.ts";
import type { RequireScope } from "../projects/index.ts";
import { problem } from "./problems.ts";
import type { RequestedType, Secret, SecretFilter, SecretKey } from "./secret.ts";
import { countSecrets, findSecret, findSecretById, findSecretByName, selectSecrets } from "./store/secrets.ts";

/** Names a secret in a request. With `type`, a secret of another type does not match. */
export type SecretRef = { readonly type?: RequestedType | null | undefined } & (
  | { readonly by: "id"; readonly id: string }
  | { readonly by: "name"; readonly name: string }
  | { readonly by: "identifier"; readonly key: SecretKey }
);

type Permission = Parameters<Authorize>[1];

/**
 * Checks a permission before the input of a request is parsed: in `place`, or in any place without it. The operations
 * check again in the place of the secret.
 */
export const requirePermission =
  ({ authorize }: Pick<Deps, "authorize">) =>
  (actor: Actor, permission: Permission, place?: Place): void =>
    place ? authorize(actor, permission, scopeOf(actor.accountId, place)) : authorizeSomewhere(actor, permission);

export type RequirePermission = ReturnType<typeof requirePermission>;

type Deps = { readonly db: Db; readonly authorize: Authorize };

/** Returns the secret if the actor has the permission in its place. Throws `secret.not_found`. */
export async function findPermitted(deps: Deps, actor: Actor, permission: Permission, ref: SecretRef): Promise<Secret> {
  const found = await find(deps.db, actor.accountId, ref);
  // The permission is checked first, so that the answer does not reveal whether the secret exists.
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
  if (ref.by === "name") return findSecretByName(db, accountId, { name: ref.name, type: ref.type ?? null });
  if (ref.by === "identifier") return findSecret(db, accountId, ref.key);
  const id = fromWire(ref.id);
  return id && findSecretById(db, accountId, id);
}

/** Returns one secret without its content. Throws `secret.not_found`. */
export const getSecret =
  (deps: Deps) =>
  (actor: Actor, ref: SecretRef): Promise<Secret> =>
    findPermitted(deps, actor, "core_secret_view", ref);

export type GetSecret = ReturnType<typeof getSecret>;

/** Whether a new secret may have this identifier in that place. */
export const isSecretIdentifierFree =
  (deps: Deps) =>
  async (actor: Actor, key: SecretKey): Promise<boolean> => {
    deps.authorize(actor, "core_secret_view", scopeOf(actor.accountId, key), key.identifier);
    return (await findSecret(deps.db, actor.accountId, key)) === undefined;
  };

export type IsSecretIdentifierFree = ReturnType<typeof isSecretIdentifierFree>;

/** Lists secrets of one place, by identifier unless the window has another order. Throws what RequireScope throws. */
export const listSecrets =
  (deps: Deps & { readonly requireScope: RequireScope }) =>
  async (actor: Actor, given: SecretFilter, window: Window): Promise<Page<Secret>> => {
    const shown = listed(actor, "core_secret_view", scopeOf(actor.accountId, given));
    const identifiers = shown && (given.identifiers?.filter((one) => shown.includes(one)) ?? shown);
    const filter = { ...given, identifiers: shown ? identifiers : given.identifiers };
    await deps.requireScope(actor, filter);
    const items = await selectSecrets(deps.db, actor.accountId, { filter, window });
    return { items, ...window, total: () => countSecrets(deps.db, actor.accountId, filter) };
  };

export type ListSecrets = ReturnType<typeof listSecrets>;
