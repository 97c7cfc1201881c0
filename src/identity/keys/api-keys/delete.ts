import type { Actor } from "../../../core/actor.ts";
import { deleteApiKey as deleteApiKeyRow } from "../../store/keys.ts";
import type { ParentRef } from "../api-key.ts";
import { keyEntry, requireLockedKey, type KeyDeps } from "./shared.ts";

/**
 * Deletes the key with its tokens, which end within a second on every replica. Throws what FindParent throws,
 * `api_key.not_found`.
 */
export const deleteApiKey =
  (deps: KeyDeps) =>
  async (actor: Actor, ref: ParentRef, identifier: string): Promise<void> => {
    const parent = await deps.findParent(actor, ref, "end");
    await deps.db.transaction(async (tx) => {
      const key = await requireLockedKey(tx, actor.accountId, { parent, identifier });
      await deleteApiKeyRow(tx, actor.accountId, key.id);
      await deps.audit.record(tx, actor, keyEntry("delete", { parent, before: key }));
      deps.notifyCredentialsEnded(tx);
    });
  };

export type DeleteApiKey = ReturnType<typeof deleteApiKey>;
