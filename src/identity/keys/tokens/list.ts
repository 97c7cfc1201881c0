import type { Actor } from "../../../core/actor.ts";
import type { Page, Window } from "../../../core/page.ts";
import { problem } from "../../problems.ts";
import { findApiKey, type ListFilter } from "../../store/keys.ts";
import { countTokens, listTokens as selectTokens } from "../../store/tokens.ts";
import type { KeyRef } from "../api-key.ts";
import { stateAt } from "../token-period.ts";
import type { TokenDeps, TokenOf } from "./shared.ts";

/** Lists the tokens of a key, sorted by identifier. Throws what FindParent throws, `api_key.not_found`. */
export const listTokens =
  ({ db, findParent, clock }: TokenDeps) =>
  async (
    actor: Actor,
    ref: KeyRef,
    { filter, window }: { readonly filter: ListFilter; readonly window: Window },
  ): Promise<Page<TokenOf>> => {
    const parent = await findParent(actor, ref, "view");
    const { accountId } = actor;
    const key = await findApiKey(db, accountId, { parentId: parent.id, identifier: ref.apiKeyIdentifier });
    if (!key) throw problem("api_key.not_found", [ref.apiKeyIdentifier]);
    const now = clock.now();
    const items = (await selectTokens(db, accountId, { apiKeyId: key.id, filter, window })).map((token) => ({
      parent,
      apiKeyIdentifier: key.identifier,
      token,
      valid: stateAt(token, now) === "valid",
    }));
    return { items, ...window, total: () => countTokens(db, accountId, { apiKeyId: key.id, filter }) };
  };

export type ListTokens = ReturnType<typeof listTokens>;
