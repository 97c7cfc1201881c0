import type { Actor } from "../../core/actor.ts";
import type { Page, Window } from "../../core/page.ts";
import { problem, sameIdentifier } from "../problems.ts";
import type { KeyRef, Parent } from "./api-key.ts";
import { periodOfChanged, periodOfNew, reachesBeyond, standingAt, type AskedPeriod, type Period } from "./expiry.ts";
import { createSecretStorage, type TokenDeps } from "./keeping.ts";
import { rotate, type RotateToken } from "./rotate.ts";
import { findApiKey, type ListFilter } from "../store/keys.ts";
import * as store from "../store/tokens.ts";
import type { Token, TokenFields } from "./token.ts";

/** A token with what it is shown with. */
export type TokenOf = {
  readonly parent: Parent;
  readonly apiKeyIdentifier: string;
  readonly token: Token;
  readonly valid: boolean;
};

/** Of one key at most; a rotation adds one for as long as the old text serves. */
const MAX_TOKENS = 1_000;

/**
 * The tokens of a key. Each verb throws what `FindParent` throws; a key that is not there is `api_key.not_found`, a
 * token `token.not_found`, an identifier that is taken `token.duplicate`, a period that cannot be `token.bad_period`.
 */
export type Tokens = {
  /** Answers the token's text, which is nowhere else. Throws `access.beyond_own` when the service account holds more than the actor. */
  readonly create: (actor: Actor, ref: KeyRef, fields: TokenFields, asked: AskedPeriod) => Promise<string>;
  /**
   * What is not asked of the period stays. Throws `token.expired`: what has ended does not come back; and
   * `access.beyond_own` where it would hold longer than it did and the service account holds more than the actor.
   */
  readonly update: (
    actor: Actor,
    ref: KeyRef,
    identifier: string,
    fields: TokenFields,
    asked: AskedPeriod,
  ) => Promise<TokenOf>;
  /** The token and all that it has replaced end within a second on every replica. */
  readonly remove: (actor: Actor, ref: KeyRef, identifier: string) => Promise<void>;
  readonly rotate: RotateToken;
  /** By identifier. */
  readonly list: (actor: Actor, ref: KeyRef, filter: ListFilter, window: Window) => Promise<Page<TokenOf>>;
};

export function createTokens(deps: TokenDeps): Tokens {
  const { db, findParent, clock } = deps;
  const { record, lockKey, find, keep, requireHeld } = createSecretStorage(deps);

  return {
    async create(actor, ref, fields, asked) {
      const parent = await findParent(actor, ref, "make");
      return db.transaction(async (tx) => {
        const key = await lockKey(tx, actor, parent, ref.apiKeyIdentifier);
        if ((await store.countTokens(tx, actor.accountId, key.id)) >= MAX_TOKENS)
          throw problem("token.too_many", [`${MAX_TOKENS}`]);
        const [id, at] = [deps.newId(), clock.now()];
        const period = sound(periodOfNew(asked, key.defaultTimeToExpireToken, at));
        const token = { ...fields, ...period, id, familyId: id, replacedBy: null, createdAt: at, updatedAt: at };
        const text = await keep(tx, actor, parent, key, token);
        await record(tx, actor, "create", { parent, key }, { after: token });
        return text;
      });
    },
    async update(actor, ref, identifier, fields, asked) {
      const parent = await findParent(actor, ref, "make");
      sameIdentifier(fields, identifier);
      return db.transaction(async (tx) => {
        const key = await lockKey(tx, actor, parent, ref.apiKeyIdentifier);
        const former = await find(tx, actor, key, fields.identifier);
        const at = clock.now();
        if (standingAt(former, at) === "expired") throw problem("token.expired", [former.identifier]);
        const token = { ...former, ...fields, ...sound(periodOfChanged(asked, former, at)), updatedAt: at };
        if (reachesBeyond(token, former)) await requireHeld(tx, actor, parent);
        await store.updateToken(tx, actor.accountId, token);
        await record(tx, actor, "update", { parent, key }, { before: former, after: token });
        deps.notifyCredentialsEnded(tx);
        return { parent, apiKeyIdentifier: key.identifier, token, valid: standingAt(token, at) === "valid" };
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
        valid: standingAt(token, now) === "valid",
      }));
      return { items, ...window, total: () => store.countTokens(db, accountId, key.id, filter) };
    },
  };
}

function sound(period: ReturnType<typeof periodOfNew>): Period {
  if ("message" in period) throw problem("token.bad_period", [period.field, period.message]);
  return period;
}
