import { actorId, type Actor } from "../core/actor.ts";
import type { Clock } from "../core/clock.ts";
import { NAME } from "../core/identifier.ts";
import type { NewId, Uuid } from "../core/ids.ts";
import type { Audit } from "../audit/index.ts";
import type { Authorize } from "../identity/index.ts";
import { hashSecret, newTokenSecret, readToken, secretMatches, writeToken } from "../platform/crypto/tokens.ts";
import type { Db } from "../platform/db/db.ts";
import { problem } from "./problems.ts";
import { findDelegateToken, insertDelegateToken, replaceDelegateToken } from "./store/delegates.ts";

type Deps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly authorize: Authorize;
  readonly clock: Clock;
  readonly newId: NewId;
};

export type DelegateTokenView = {
  readonly id: Uuid;
  readonly name: string;
  readonly createdAt: number;
  readonly value: string;
};

/** A token that delegates register with; its text is in this answer and nowhere else. Throws `delegate.token_name_taken`. */
export type CreateDelegateToken = (actor: Actor, name: string) => Promise<DelegateTokenView>;

export const makeCreateDelegateToken =
  (deps: Deps): CreateDelegateToken =>
  async (actor, name) => {
    const { accountId } = actor;
    deps.authorize(actor, "core_delegate_edit", { accountId });
    if (!NAME.test(name)) throw problem("delegate.bad_token_name");
    const [id, secret, at] = [deps.newId(), newTokenSecret(), deps.clock.now()];
    await deps.db.transaction(async (tx) => {
      const made = await insertDelegateToken(tx, {
        accountId,
        id,
        name,
        secretHash: hashSecret(secret),
        createdBy: actorId(actor),
        at,
      });
      if (!made) throw problem("delegate.token_name_taken", [name]);
      await deps.audit.record(tx, actor, {
        operation: "delegate-token.create",
        resourceType: "DELEGATE",
        resourceId: name,
        scope: {},
      });
    });
    return { id, name, createdAt: at, value: writeToken("dlg", { accountId, tokenId: id, secret }) };
  };

/** The local delegate's token: a new one at each start, so that none has to be kept in plain text. */
export const LOCAL_TOKEN_NAME = "local";

export async function renewLocalToken(deps: Pick<Deps, "db" | "clock" | "newId">, accountId: Uuid): Promise<string> {
  const secret = newTokenSecret();
  const tokenId = await replaceDelegateToken(deps.db, {
    accountId,
    id: deps.newId(),
    name: LOCAL_TOKEN_NAME,
    secretHash: hashSecret(secret),
    createdBy: null,
    at: deps.clock.now(),
  });
  return writeToken("dlg", { accountId, tokenId, secret });
}

export async function authenticateDelegate(
  db: Db,
  token: string,
): Promise<{ accountId: Uuid; tokenId: Uuid } | undefined> {
  const parts = readToken("dlg", token);
  if (!parts) return undefined;
  const row = await findDelegateToken(db, parts.accountId, parts.tokenId);
  return secretMatches(parts.secret, row?.secretHash)
    ? { accountId: parts.accountId, tokenId: parts.tokenId }
    : undefined;
}
