/** Functions shared by the operations on tokens. */
import type { PreventEscalationTo } from "../../access/index.ts";
import type { Actor } from "../../core/actor.ts";
import { within } from "../../core/reference.ts";
import { hashSecret, newTokenSecret, writeToken } from "../../platform/crypto/tokens.ts";
import type { Tx } from "../../platform/db/db.ts";
import { problem } from "../problems.ts";
import { lockApiKey } from "../store/keys.ts";
import { findKeyToken, insertToken } from "../store/tokens.ts";
import type { ApiKey, Parent } from "./api-key.ts";
import type { KeyDeps } from "./api-keys.ts";
import { shownToken, type Token } from "./token.ts";

export type TokenDeps = KeyDeps & { readonly preventEscalationToServiceAccount: PreventEscalationTo };

type At = { readonly parent: Parent; readonly key: ApiKey };
type Sides = { readonly before?: Token; readonly after?: Token };

export function createTokenHelpers(deps: Pick<TokenDeps, "audit" | "preventEscalationToServiceAccount">) {
  const record = (tx: Tx, actor: Actor, verb: string, at: At, { before, after }: Sides): Promise<void> =>
    deps.audit.record(tx, actor, {
      operation: `token.${verb}`,
      resourceType: "TOKEN",
      resourceId: [at.parent.identifier, at.key.identifier, (before ?? after)?.identifier].join("/"),
      scope: within(at.parent),
      before: before && shownToken(before),
      after: after && shownToken(after),
    });
  const lockKey = async (tx: Tx, actor: Actor, parent: Parent, identifier: string): Promise<ApiKey> => {
    const key = await lockApiKey(tx, actor.accountId, parent.id, identifier);
    if (!key) throw problem("api_key.not_found", [identifier]);
    return key;
  };
  const find = async (tx: Tx, actor: Actor, key: ApiKey, identifier: string): Promise<Token> => {
    const token = await findKeyToken(tx, actor.accountId, key.id, identifier);
    if (!token) throw problem("token.not_found", [identifier]);
    return token;
  };

  /**
   * A token that acts as a service account requires everything that the service account holds. Throws
   * `access.beyond_own`. Users need nothing for their own tokens.
   */
  const preventEscalation = async (tx: Tx, actor: Actor, { type, id }: Parent): Promise<void> => {
    if (type === "SERVICE_ACCOUNT") await deps.preventEscalationToServiceAccount(tx, actor, id);
  };

  /**
   * Inserts the token and returns its text. Every new token passes here. Throws `access.beyond_own`, `token.duplicate`.
   */
  async function insertNewToken(tx: Tx, actor: Actor, parent: Parent, key: ApiKey, token: Token): Promise<string> {
    await preventEscalation(tx, actor, parent);
    const { accountId } = actor;
    const secret = newTokenSecret();
    const row = { ...token, accountId, apiKeyId: key.id, secretHash: hashSecret(secret) };
    if (!(await insertToken(tx, row))) throw problem("token.duplicate", [token.identifier]);
    return writeToken(parent.type === "USER" ? "pat" : "sat", { accountId, tokenId: token.id, secret });
  }

  return { record, lockKey, find, insertNewToken, preventEscalation };
}
