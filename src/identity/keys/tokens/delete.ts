import type { Actor } from "../../../core/actor.ts";
import { deleteFamily, deleteToken as deleteTokenRow } from "../../store/tokens.ts";
import type { KeyRef } from "../api-key.ts";
import { requireLockedKey } from "../api-keys/shared.ts";
import { requireToken, tokenEntry, type TokenDeps } from "./shared.ts";

/**
 * Deletes the token and those that it has replaced, which end within a second on every replica. Throws what FindParent
 * throws, `api_key.not_found`, `token.not_found`.
 */
export const deleteToken =
  (deps: TokenDeps) =>
  async (actor: Actor, ref: KeyRef, identifier: string): Promise<void> => {
    const parent = await deps.findParent(actor, ref, "end");
    await deps.db.transaction(async (tx) => {
      const key = await requireLockedKey(tx, actor.accountId, { parent, identifier: ref.apiKeyIdentifier });
      const token = await requireToken(tx, actor.accountId, { key, identifier });
      if (token.replacedBy === null) await deleteFamily(tx, actor.accountId, token.familyId);
      else await deleteTokenRow(tx, actor.accountId, token.id);
      await deps.audit.record(tx, actor, tokenEntry("delete", { parent, key, before: token }));
      deps.notifyCredentialsEnded(tx);
    });
  };

export type DeleteToken = ReturnType<typeof deleteToken>;
