import type { Actor } from "../../../core/actor.ts";
import { problem, sameIdentifier } from "../../problems.ts";
import { updateToken as updateTokenRow } from "../../store/tokens.ts";
import type { KeyRef } from "../api-key.ts";
import { requireLockedKey } from "../api-keys/shared.ts";
import { periodOfChanged, reachesBeyond, stateAt, type RequestedPeriod } from "../token-period.ts";
import type { TokenFields } from "../token.ts";
import { preventEscalation, requirePeriod, requireToken, tokenEntry, type TokenDeps, type TokenOf } from "./shared.ts";

export type TokenChange = {
  /** Of the token, as the path names it. */
  readonly identifier: string;
  readonly fields: TokenFields;
  /** Omitted fields of the period stay. */
  readonly requested: RequestedPeriod;
};

/**
 * Throws what FindParent throws, `api_key.not_found`, `token.not_found`, `token.bad_period`, `token.expired` for an
 * ended token, and `access.beyond_own` if the token becomes valid for longer and the service account holds more than
 * the actor.
 */
export const updateToken =
  (deps: TokenDeps) =>
  async (actor: Actor, ref: KeyRef, { identifier, fields, requested }: TokenChange): Promise<TokenOf> => {
    const parent = await deps.findParent(actor, ref, "make");
    sameIdentifier(fields, identifier);
    return deps.db.transaction(async (tx) => {
      const key = await requireLockedKey(tx, actor.accountId, { parent, identifier: ref.apiKeyIdentifier });
      const former = await requireToken(tx, actor.accountId, { key, identifier: fields.identifier });
      const at = deps.clock.now();
      if (stateAt(former, at) === "expired") throw problem("token.expired", [former.identifier]);
      const period = requirePeriod(periodOfChanged(requested, former, at));
      const token = { ...former, ...fields, ...period, updatedAt: at };
      if (reachesBeyond(token, former)) await preventEscalation(tx, deps, { actor, parent });
      await updateTokenRow(tx, actor.accountId, token);
      await deps.audit.record(tx, actor, tokenEntry("update", { parent, key, before: former, after: token }));
      deps.notifyCredentialsEnded(tx);
      return { parent, apiKeyIdentifier: key.identifier, token, valid: stateAt(token, at) === "valid" };
    });
  };

export type UpdateToken = ReturnType<typeof updateToken>;
