import type { Actor } from "../../../core/actor.ts";
import type { Page, Window } from "../../../core/page.ts";
import { countApiKeys, listApiKeys as selectApiKeys, type ListFilter } from "../../store/keys.ts";
import type { ListedApiKey, ParentRef } from "../api-key.ts";
import { MAX_KEYS, type KeyDeps, type KeyOf } from "./shared.ts";

/** Lists the keys of an owner, sorted by identifier; all of them without a window. Throws what FindParent throws. */
export const listApiKeys =
  ({ db, findParent }: KeyDeps) =>
  async (
    actor: Actor,
    ref: ParentRef,
    { filter, window = { limit: MAX_KEYS, offset: 0 } }: { readonly filter: ListFilter; readonly window?: Window },
  ): Promise<Page<KeyOf<ListedApiKey>>> => {
    const parent = await findParent(actor, ref, "view");
    const keys = await selectApiKeys(db, actor.accountId, { parentId: parent.id, filter, window });
    const total = (): Promise<number> => countApiKeys(db, actor.accountId, { parentId: parent.id, filter });
    return { items: keys.map((key) => ({ parent, key })), ...window, total };
  };

export type ListApiKeys = ReturnType<typeof listApiKeys>;
