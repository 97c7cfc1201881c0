import type { Actor } from "../../../core/actor.ts";
import type { Tx } from "../../../platform/db/db.ts";
import { problem } from "../../problems.ts";
import * as store from "../../store/tokens.ts";
import type { KeyRef } from "../api-key.ts";
import { rotatePeriod, stateAt } from "../token-period.ts";
import { requireLockedKey } from "../api-keys/shared.ts";
import { insertNewToken, requireToken, tokenEntry, type TokenDeps } from "./shared.ts";
import type { Token } from "../token.ts";

/** How long a replaced token is listed after its end, in milliseconds. */
const SHOWN_MS = 30 * 86_400_000;

type TokenRotation = { readonly identifier: string; readonly until: number | undefined };

/**
 * Replaces the token's text. The old one is valid until `until` and is listed as `rotated_…`. Returns the new text.
 * Throws `token.rotated`, `token.expired`, `token.overlap_too_long`, and `access.beyond_own` if the service account
 * holds more than the actor.
 */
export const rotateToken =
  (deps: TokenDeps) =>
  async (actor: Actor, ref: KeyRef, { identifier, until }: TokenRotation): Promise<string> => {
    const parent = await deps.findParent(actor, ref, "make");
    return deps.db.transaction(async (tx) => {
      const { accountId } = actor;
      const key = await requireLockedKey(tx, actor.accountId, { parent, identifier: ref.apiKeyIdentifier });
      const former = await requireToken(tx, actor.accountId, { key, identifier });
      if (former.replacedBy !== null) throw await replaced(tx, actor, former);
      const at = deps.clock.now();
      if (stateAt(former, at) === "expired") throw problem("token.expired", [identifier]);
      const rotated = rotatePeriod(former, { until, defaultMs: key.defaultTimeToExpireToken, now: at });
      if (!rotated) throw problem("token.overlap_too_long");
      await store.deleteEndedTokens(tx, accountId, { familyId: former.familyId, until: at - SHOWN_MS });
      const token = { ...former, ...rotated.period, id: deps.newId(), createdAt: at, updatedAt: at };
      const old = {
        ...former,
        identifier: `rotated_${former.id.replaceAll("-", "")}`,
        scheduledEnd: rotated.oldEnd,
        replacedBy: token.id,
        updatedAt: at,
      };
      await store.updateToken(tx, accountId, old);
      const text = await insertNewToken(tx, deps, { actor, parent, key, token });
      await deps.audit.record(tx, actor, tokenEntry("rotate", { parent, key, before: former, after: old }));
      deps.notifyCredentialsEnded(tx);
      return text;
    });
  };

export type RotateToken = ReturnType<typeof rotateToken>;

async function replaced(tx: Tx, { accountId }: Actor, token: Token): Promise<Error> {
  const current = await store.findCurrentOfFamily(tx, accountId, token.familyId);
  return problem("token.rotated", [token.identifier, current?.identifier ?? "another token"]);
}
