import type { Actor } from "../../../core/actor.ts";
import { problem } from "../../problems.ts";
import { findApiKey } from "../../store/keys.ts";
import type { ListedApiKey, ParentRef } from "../api-key.ts";
import type { KeyDeps, KeyOf } from "./shared.ts";

/** Throws what FindParent throws, `api_key.not_found`. */
export const getApiKey =
  ({ db, findParent }: KeyDeps) =>
  async (actor: Actor, ref: ParentRef, identifier: string): Promise<KeyOf<ListedApiKey>> => {
    const parent = await findParent(actor, ref, "view");
    const key = await findApiKey(db, actor.accountId, { parentId: parent.id, identifier });
    if (!key) throw problem("api_key.not_found", [identifier]);
    return { parent, key };
  };

export type GetApiKey = ReturnType<typeof getApiKey>;
