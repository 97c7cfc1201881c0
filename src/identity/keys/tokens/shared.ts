/** Shared by the operations on tokens. */
import type { PreventEscalationTo } from "../../../access/index.ts";
import type { AuditedChange } from "../../../audit/index.ts";
import type { Actor } from "../../../core/actor.ts";
import type { Uuid } from "../../../core/ids.ts";
import { within } from "../../../core/reference.ts";
import { hashSecret, newTokenSecret, writeToken } from "../../../platform/crypto/tokens.ts";
import type { Tx } from "../../../platform/db/db.ts";
import { problem } from "../../problems.ts";
import { findKeyToken, insertToken } from "../../store/tokens.ts";
import type { ApiKey, Parent } from "../api-key.ts";
import type { KeyDeps } from "../api-keys/shared.ts";
import type { Period, periodOfNew } from "../token-period.ts";
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
  readonly parent: Parent;
  readonly key: ApiKey;
  readonly before?: Token;
  readonly after?: Token;
};

/** The audit entry of a changed token. */
export const tokenEntry = (
  operation: "create" | "update" | "rotate" | "delete",
  { parent, key, before, after }: Change,
): AuditedChange => ({
  operation: `token.${operation}`,
  resourceType: "TOKEN",
  resourceId: [parent.identifier, key.identifier, (before ?? after)?.identifier].join("/"),
  scope: within(parent),
  before: before && shownToken(before),
  after: after && shownToken(after),
});

/** Throws `token.not_found`. */
export async function requireToken(
  tx: Tx,
  accountId: Uuid,
  { key, identifier }: { readonly key: ApiKey; readonly identifier: string },
): Promise<Token> {
  const token = await findKeyToken(tx, accountId, { apiKeyId: key.id, identifier });
  if (!token) throw problem("token.not_found", [identifier]);
  return token;
}

/**
 * A token that acts as a service account requires everything that the service account holds. Throws
 * `access.beyond_own`. Users need nothing for their own tokens.
 */
export async function preventEscalation(
  tx: Tx,
  deps: Pick<TokenDeps, "preventEscalationToServiceAccount">,
  { actor, parent: { type, id } }: { readonly actor: Actor; readonly parent: Parent },
): Promise<void> {
  if (type === "SERVICE_ACCOUNT") await deps.preventEscalationToServiceAccount(tx, actor, id);
}

type NewToken = { readonly actor: Actor; readonly parent: Parent; readonly key: ApiKey; readonly token: Token };

/**
 * Inserts the token and returns its text. Every new token passes here. Throws `access.beyond_own`, `token.duplicate`.
 */
export async function insertNewToken(
  tx: Tx,
  deps: Pick<TokenDeps, "preventEscalationToServiceAccount">,
  { actor, parent, key, token }: NewToken,
): Promise<string> {
  await preventEscalation(tx, deps, { actor, parent });
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
