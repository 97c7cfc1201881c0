import type { Actor } from "../../core/actor.ts";
import { fromWire, type Uuid } from "../../core/ids.ts";
import type { Page, Window } from "../../core/page.ts";
import type { Authorize } from "../../access/index.ts";
import type { Db } from "../../platform/db/db.ts";
import type { SecretManager } from "./manager.ts";
import { problem } from "../problems.ts";
import {
  countManagers,
  findManager,
  findManagerByIdentifier,
  findManagerByName,
  selectManagers,
} from "../store/managers.ts";

type Deps = { readonly db: Db; readonly authorize: Authorize };
export type ManagerRef =
  | { readonly by: "id"; readonly id: string }
  | { readonly by: "name"; readonly name: string }
  | { readonly by: "identifier"; readonly identifier: string };

/** Lists the secret managers of the account, by name unless the window has another order. */
export const listManagers =
  (deps: Deps) =>
  async (actor: Actor, window: Window): Promise<Page<SecretManager>> => {
    deps.authorize(actor, "core_secret_view", { accountId: actor.accountId });
    const items = await selectManagers(deps.db, actor.accountId, window);
    return { items, ...window, total: () => countManagers(deps.db, actor.accountId) };
  };

export type ListManagers = ReturnType<typeof listManagers>;

/** Returns one secret manager. Throws `secret.no_manager`. */
export const getManager =
  (deps: Deps) =>
  async (actor: Actor, ref: ManagerRef): Promise<SecretManager> => {
    deps.authorize(actor, "core_secret_view", { accountId: actor.accountId });
    const found = await findRef(deps.db, actor.accountId, ref);
    if (!found) throw noManager(ref);
    return found;
  };

export type GetManager = ReturnType<typeof getManager>;

export function noManager(ref: ManagerRef): Error {
  return problem("secret.no_manager", [
    ref.by,
    ref.by === "id" ? ref.id : ref.by === "name" ? ref.name : ref.identifier,
  ]);
}

async function findRef(db: Db, accountId: Uuid, ref: ManagerRef): Promise<SecretManager | undefined> {
  if (ref.by === "name") return findManagerByName(db, accountId, ref.name);
  if (ref.by === "identifier") return findManagerByIdentifier(db, accountId, ref.identifier);
  const id = fromWire(ref.id);
  return id && findManager(db, accountId, id);
}
