import type { Actor } from "../../core/actor.ts";
import type { Page, Window } from "../../core/page.ts";
import { problem, sameIdentifier } from "../problems.ts";
import type { KeyRef, Parent } from "./api-key.ts";
import { periodOfChanged, periodOfNew, reachesBeyond, stateAt, type RequestedPeriod, type Period } from "./expiry.ts";
import { createTokenHelpers, type TokenDeps } from "./token-helpers.ts";
import { rotate, type RotateToken } from "./rotate.ts";
import { findApiKey, type ListFilter } from "../store/keys.ts";
import * as store from "../store/tokens.ts";
import type { Token, TokenFields } from "./token.ts";

/** A token with the key and owner that responses show. */
export type TokenOf = {
  readonly parent: Parent;
  readonly apiKeyIdentifier: string;
  readonly token: Token;
  readonly valid: boolean;
};

/** Limit per key. A rotation adds one while the old token is valid. */
const MAX_TOKENS = 1_000;

/**
 * Operations on the tokens of a key. Each throws what `FindParent` throws, `api_key.not_found` for an unknown key,
 * `token.not_found` for an unknown token, `token.duplicate` for a taken identifier, and `token.bad_period` for an
 * invalid period.
 */
export type Tokens = {
  /**
   * Returns the token's text, which is stored nowhere. Throws `access.beyond_own` if the service account holds more
   * than the actor.
   */
  readonly create: (actor: Actor, ref: KeyRef, fields: TokenFields, requested: RequestedPeriod) => Promise<string>;
  /**
   * Changes a token. Omitted fields of the period stay. Throws `token.expired` for an ended token, and
   * `access.beyond_own` if the token becomes valid for longer and the service account holds more than the actor.
   */
  readonly update: (
    actor: Actor,
    ref: KeyRef,
    identifier: string,
    fields: TokenFields,
    requested: RequestedPeriod,
  ) => Promise<TokenOf>;
  /** Deletes the token and those that it has replaced, which end within a second on every replica. */
  readonly remove: (actor: Actor, ref: KeyRef, identifier: string) => Promise<void>;
  readonly rotate: RotateToken;
  /** Lists tokens, sorted by identifier. */
  readonly list: (actor: Actor, ref: KeyRef, filter: ListFilter, window: Window) => Promise<Page<TokenOf>>;
};

export function createTokens(deps: TokenDeps): Tokens {
  const { db, findParent, clock } = deps;
  const { record, lockKey, find, insertNewToken, preventEscalation } = createTokenHelpers(deps);

  return {
    async create(actor, ref, fields, requested) {
      const parent = await findParent(actor, ref, "make");
      return db.transaction(async (tx) => {
        const key = await lockKey(tx, actor, parent, ref.apiKeyIdentifier);
        if ((await store.countTokens(tx, actor.accountId, key.id)) >= MAX_TOKENS)
          throw problem("token.too_many", [`${MAX_TOKENS}`]);
        const [id, at] = [deps.newId(), clock.now()];
        const period = sound(periodOfNew(requested, key.defaultTimeToExpireToken, at));
        const token = { ...fields, ...period, id, familyId: id, replacedBy: null, createdAt: at, updatedAt: at };
        const text = await insertNewToken(tx, actor, parent, key, token);
        await record(tx, actor, "create", { parent, key }, { after: token });
        return text;
      });
    },
    async update(actor, ref, identifier, fields, requested) {
      const parent = await findParent(actor, ref, "make");
      sameIdentifier(fields, identifier);
      return db.transaction(async (tx) => {
        const key = await lockKey(tx, actor, parent, ref.apiKeyIdentifier);
        const former = await find(tx, actor, key, fields.identifier);
        const at = clock.now();
        if (stateAt(former, at) === "expired") throw problem("token.expired", [former.identifier]);
        const token = { ...former, ...fields, ...sound(periodOfChanged(requested, former, at)), updatedAt: at };
        if (reachesBeyond(token, former)) await preventEscalation(tx, actor, parent);
        await store.updateToken(tx, actor.accountId, token);
        await record(tx, actor, "update", { parent, key }, { before: former, after: token });
        deps.notifyCredentialsEnded(tx);
        return { parent, apiKeyIdentifier: key.identifier, token, valid: stateAt(token, at) === "valid" };
      });
    },
    async remove(actor, ref, identifier) {
      const parent = await findParent(actor, ref, "end");
      await db.transaction(async (tx) => {
        const key = await lockKey(tx, actor, parent, ref.apiKeyIdentifier);
        const token = await find(tx, actor, key, identifier);
        if (token.replacedBy === null) await store.deleteFamily(tx, actor.accountId, token.familyId);
        else await store.deleteToken(tx, actor.accountId, token.id);
        await record(tx, actor, "delete", { parent, key }, { before: token });
        deps.notifyCredentialsEnded(tx);
      });
    },
    rotate: rotate(deps),
    async list(actor, ref, filter, window) {
      const parent = await findParent(actor, ref, "view");
      const { accountId } = actor;
      const key = await findApiKey(db, accountId, parent.id, ref.apiKeyIdentifier);
      if (!key) throw problem("api_key.not_found", [ref.apiKeyIdentifier]);
      const now = clock.now();
      const items = (await store.listTokens(db, accountId, key.id, filter, window)).map((token) => ({
        parent,
        apiKeyIdentifier: key.identifier,
        token,
        valid: stateAt(token, now) === "valid",
      }));
      return { items, ...window, total: () => store.countTokens(db, accountId, key.id, filter) };
    },
  };
}

function sound(period: ReturnType<typeof periodOfNew>): Period {
  if ("message" in period) throw problem("token.bad_period", [period.field, period.message]);
  return period;
}
