import type { Actor } from "../core/actor.ts";
import { fromWire } from "../core/ids.ts";
import type { Page } from "../core/page.ts";
import type { Authorize } from "../access/index.ts";
import type { Db } from "../platform/db/db.ts";
import type { SecretManager } from "./manager.ts";
import { problem } from "./problems.ts";
import { countManagers, findManager, findManagerByName, listManagers } from "./store/managers.ts";

type Deps = { readonly db: Db; readonly authorize: Authorize };

export type ListManagers = (actor: Actor, limit: number, offset: number) => Promise<Page<SecretManager>>;

/** Throws `secret.no_manager`. */
export type GetManager = (
  actor: Actor,
  ref: { readonly by: "id"; readonly id: string } | { readonly by: "name"; readonly name: string },
) => Promise<SecretManager>;

export const makeListManagers =
  (deps: Deps): ListManagers =>
  async (actor, limit, offset) => {
    deps.authorize(actor, "core_secret_view", { accountId: actor.accountId });
    const items = await listManagers(deps.db, actor.accountId, limit, offset);
    return { items, limit, offset, total: () => countManagers(deps.db, actor.accountId) };
  };

export const makeGetManager =
  (deps: Deps): GetManager =>
  async (actor, ref) => {
    deps.authorize(actor, "core_secret_view", { accountId: actor.accountId });
    const { accountId } = actor;
    const id = ref.by === "id" ? fromWire(ref.id) : undefined;
    const found =
      ref.by === "name"
        ? await findManagerByName(deps.db, accountId, ref.name)
        : id && (await findManager(deps.db, accountId, id));
    if (!found) throw problem("secret.no_manager", [ref.by, ref.by === "name" ? ref.name : ref.id]);
    return found;
  };
