import type { Actor } from "../../../core/actor.ts";
import { problem } from "../../problems.ts";
import { countTokens } from "../../store/tokens.ts";
import type { KeyRef } from "../api-key.ts";
import { requireLockedKey } from "../api-keys/shared.ts";
import { periodOfNew, type RequestedPeriod } from "../token-period.ts";
import type { TokenFields } from "../token.ts";
import { insertNewToken, requirePeriod, tokenEntry, type TokenDeps } from "./shared.ts";

/** Limit per key. A rotation adds one while the old token is valid. */
const MAX_TOKENS = 1_000;

type NewTokenFields = { readonly fields: TokenFields; readonly requested: RequestedPeriod };

/**
 * Returns the token's text, which is stored nowhere. Throws what FindParent throws, `api_key.not_found`,
 * `token.duplicate`, `token.too_many`, `token.bad_period`, and `access.beyond_own` if the service account holds more
 * than the actor.
 */
export const createToken =
  (deps: TokenDeps) =>
  async (actor: Actor, ref: KeyRef, { fields, requested }: NewTokenFields): Promise<string> => {
    const parent = await deps.findParent(actor, ref, "make");
    return deps.db.transaction(async (tx) => {
      const key = await requireLockedKey(tx, actor.accountId, { parent, identifier: ref.apiKeyIdentifier });
      if ((await countTokens(tx, actor.accountId, { apiKeyId: key.id, filter: {} })) >= MAX_TOKENS)
        throw problem("token.too_many", [`${MAX_TOKENS}`]);
      const id = deps.newId();
      const at = deps.clock.now();
      const period = requirePeriod(periodOfNew(requested, key.defaultTimeToExpireToken, at));
      const token = { ...fields, ...period, id, familyId: id, replacedBy: null, createdAt: at, updatedAt: at };
      const text = await insertNewToken(tx, deps, { actor, parent, key, token });
      await deps.audit.record(tx, actor, tokenEntry("create", { parent, key, after: token }));
      return text;
    });
  };

export type CreateToken = ReturnType<typeof createToken>;
