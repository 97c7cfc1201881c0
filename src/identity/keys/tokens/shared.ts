/** Shared by the operations on tokens. */
import type { PreventEscalationTo } from "../../../access/index.ts";
import type { Actor } from "../../../core/actor.ts";
import { within } from "../../../core/reference.ts";
import { hashSecret, newTokenSecret, writeToken } from "../../../platform/crypto/tokens.ts";
import type { Tx } from "../../../platform/db/db.ts";
import { problem } from "../../problems.ts";
import { findKeyToken, insertToken } from "../../store/tokens.ts";
import type { ApiKey, Parent } from "../api-key.ts";
import type { KeyDeps } from "../api-keys/shared.ts";
import type { Period, periodOfNew } from "../expiry.ts";
import { shownToken, type Token } from "../token.ts";

export type TokenDeps = KeyDeps & { readonly preventEscalationToServiceAccount: PreventEscalationTo };

/** A token with the key and owner that responses show. */
export type TokenOf = {
  readonly parent: Parent;
  readonly apiKeyIdentifier: string;
  readonly token: Token;
  readonly valid: boolean;
};

type Change = {
  readonly verb: "create" | "update" | "rotate" | "delete";
  readonly parent: Parent;
  readonly key: ApiKey;
  readonly before?: Token;
  readonly after?: Token;
};

export const recordToken = (
  { audit }: Pick<TokenDeps, "audit">,
  tx: Tx,
  actor: Actor,
  { verb, parent, key, before, after }: Change,
): Promise<void> =>
  audit.record(tx, actor, {
    operation: `token.${verb}`,
    resourceType: "TOKEN",
    resourceId: [parent.identifier, key.identifier, (before ?? after)?.identifier].join("/"),
    scope: within(parent),
    before: before && shownToken(before),
    after: after && shownToken(after),
  });

/** Throws `token.not_found`. */
export async function requireToken(tx: Tx, actor: Actor, key: ApiKey, identifier: string): Promise<Token> {
  const token = await findKeyToken(tx, actor.accountId, key.id, identifier);
  if (!token) throw problem("token.not_found", [identifier]);
  return token;
}

/**
 * A token that acts as a service account requires everything that the service account holds. Throws
 * `access.beyond_own`. Users need nothing for their own tokens.
 */
export async function preventEscalation(
  deps: Pick<TokenDeps, "preventEscalationToServiceAccount">,
  tx: Tx,
  actor: Actor,
  { type, id }: Parent,
): Promise<void> {
  if (type === "SERVICE_ACCOUNT") await deps.preventEscalationToServiceAccount(tx, actor, id);
}

type NewToken = { readonly parent: Parent; readonly key: ApiKey; readonly token: Token };

/**
 * Inserts the token and returns its text. Every new token passes here. Throws `access.beyond_own`, `token.duplicate`.
 */
export async function insertNewToken(
  deps: Pick<TokenDeps, "preventEscalationToServiceAccount">,
  tx: Tx,
  actor: Actor,
  { parent, key, token }: NewToken,
): Promise<string> {
  await preventEscalation(deps, tx, actor, parent);
  const { accountId } = actor;
  const secret = newTokenSecret();
  const row = { ...token, accountId, apiKeyId: key.id, secretHash: hashSecret(secret) };
  if (!(await insertToken(tx, row))) throw problem("token.duplicate", [token.identifier]);
  return writeToken(parent.type === "USER" ? "pat" : "sat", { accountId, tokenId: token.id, secret });
}

/** Throws `token.bad_period` for an invalid period. */
export function requirePeriod(period: ReturnType<typeof periodOfNew>): Period {
  if ("message" in period) throw problem("token.bad_period", [period.field, period.message]);
  return period;
}
