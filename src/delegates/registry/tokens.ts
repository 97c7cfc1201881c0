/** Tokens with which delegates register: created, revoked, deleted, and checked when a delegate connects. */
import { actorId, type Actor } from "../../core/actor.ts";
import type { Clock } from "../../core/clock.ts";
import { NAME } from "../../core/identifier.ts";
import type { NewId, Uuid } from "../../core/ids.ts";
import type { Audit } from "../../audit/index.ts";
import type { Authorize } from "../../access/index.ts";
import { hashSecret, newTokenSecret, readToken, secretMatches, writeToken } from "../../platform/crypto/tokens.ts";
import type { Db, Tx } from "../../platform/db/db.ts";
import { problem } from "../problems.ts";
import { deleteToken, listDue, listTokens, revokeDueToken, revokeToken, type TokenView } from "../store/registry.ts";
import { findDelegateToken, insertDelegateToken } from "../store/delegates.ts";

type Deps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly authorize: Authorize;
  readonly clock: Clock;
  readonly newId: NewId;
};

export type NewDelegateToken = TokenView & { readonly value: string };

/**
 * Creates a token for registering delegates. Only this answer contains its text. It is revoked automatically at
 * `revokeAfter` (epoch milliseconds). Throws `delegate.token_name_taken`, `delegate.bad_revoke_after`.
 */
export const createDelegateToken =
  (deps: Deps) =>
  async (
    actor: Actor,
    name: string,
    { revokeAfter = null }: { readonly revokeAfter?: number | null | undefined } = {},
  ): Promise<NewDelegateToken> => {
    const { accountId } = actor;
    deps.authorize(actor, "core_delegate_edit", { accountId });
    if (!NAME.test(name)) throw problem("delegate.bad_token_name");
    const [id, secret, at] = [deps.newId(), newTokenSecret(), deps.clock.now()];
    if (revokeAfter !== null && revokeAfter <= at) throw problem("delegate.bad_revoke_after");
    await deps.db.transaction(async (tx) => {
      const made = await insertDelegateToken(tx, {
        accountId,
        id,
        name,
        secretHash: hashSecret(secret),
        createdBy: actorId(actor),
        at,
        revokeAfter,
      });
      if (!made) throw problem("delegate.token_name_taken", [name]);
      await deps.audit.record(tx, actor, { ...change("create", name), after: { name, revoked: false, revokeAfter } });
    });
    const createdBy = actorId(actor);
    return {
      id,
      name,
      createdBy,
      createdAt: at,
      revokedAt: null,
      revokeAfter,
      value: writeToken("dlg", { accountId, tokenId: id, secret }),
    };
  };

export type CreateDelegateToken = ReturnType<typeof createDelegateToken>;

const MAX_LISTED = 1_000;

/** Lists tokens by name, revoked ones too. Contains no token text, because only a hash is stored. */
export const listDelegateTokens =
  (deps: Pick<Deps, "db" | "authorize">) =>
  async (
    actor: Actor,
    { name, status }: { readonly name: string | undefined; readonly status: "ACTIVE" | "REVOKED" | undefined },
  ): Promise<readonly TokenView[]> => {
    deps.authorize(actor, "core_delegate_view", { accountId: actor.accountId });
    const revoked = status === undefined ? undefined : status === "REVOKED";
    return listTokens(deps.db, actor.accountId, { name, revoked, limit: MAX_LISTED });
  };

export type ListDelegateTokens = ReturnType<typeof listDelegateTokens>;

/**
 * Revokes a token. Its delegates are disconnected at once, on every replica, and cannot reconnect. Throws
 * `delegate.no_token`.
 */
export const revokeDelegateToken =
  (deps: Deps & Pick<RevocationDeps, "onTokenRevoked">) =>
  async (actor: Actor, name: string): Promise<TokenView> => {
    const { accountId } = actor;
    deps.authorize(actor, "core_delegate_edit", { accountId });
    const at = deps.clock.now();
    const token = await recordRevocation(deps, actor, { at, revoke: (tx) => revokeToken(tx, { accountId, name }, at) });
    if (!token) throw problem("delegate.no_token", [name]);
    return token;
  };

export type RevokeDelegateToken = ReturnType<typeof revokeDelegateToken>;

/** `onTokenRevoked` is called after the commit and disconnects the token's delegates. */
type RevocationDeps = Pick<Deps, "db" | "audit"> & { readonly onTokenRevoked: (tokenId: Uuid) => void };

type Revocation = {
  readonly at: number;
  /** Returns the revoked token; undefined when there is none to revoke. */
  readonly revoke: (tx: Tx) => Promise<TokenView | undefined>;
};

const recordRevocation = (
  { db, audit, onTokenRevoked }: RevocationDeps,
  actor: Actor,
  { at, revoke }: Revocation,
): Promise<TokenView | undefined> =>
  db.transaction(async (tx) => {
    const token = await revoke(tx);
    if (!token) return undefined;
    const before = { revoked: actor.kind !== "system" && token.revokedAt !== at };
    await audit.record(tx, actor, { ...change("revoke", token.name), before, after: { revoked: true } });
    tx.afterCommit(() => onTokenRevoked(token.id));
    return token;
  });

/**
 * Revokes the tokens whose `revokeAfter` has passed, as of that moment. Called repeatedly; of several servers, one
 * revokes each token.
 */
export const revokeDue =
  (deps: RevocationDeps & Pick<Deps, "clock">): (() => Promise<void>) =>
  async () => {
    const now = deps.clock.now();
    for (const due of await listDue(deps.db, now))
      await recordRevocation(
        deps,
        { kind: "system", accountId: due.accountId },
        { at: now, revoke: (tx) => revokeDueToken(tx, due, now) },
      );
  };

/** Returns a token. Throws `delegate.no_token`. */
export const getDelegateToken =
  (deps: Pick<Deps, "db" | "authorize">) =>
  async (actor: Actor, name: string): Promise<TokenView> => {
    const { accountId } = actor;
    deps.authorize(actor, "core_delegate_view", { accountId });
    const [token] = await listTokens(deps.db, accountId, { name, revoked: undefined, limit: 1 });
    if (!token) throw problem("delegate.no_token", [name]);
    return token;
  };

export type GetDelegateToken = ReturnType<typeof getDelegateToken>;

/** Deletes a revoked token and frees its name. Throws `delegate.no_token`, `delegate.token_live`. */
export const deleteDelegateToken =
  (deps: Deps) =>
  async (actor: Actor, name: string): Promise<void> => {
    const { accountId } = actor;
    deps.authorize(actor, "core_delegate_edit", { accountId });
    await deps.db.transaction(async (tx) => {
      const outcome = await deleteToken(tx, { accountId, name }, deps.clock.now());
      if (outcome === "missing") throw problem("delegate.no_token", [name]);
      if (outcome === "live") throw problem("delegate.token_live", [name]);
      await deps.audit.record(tx, actor, { ...change("delete", name), before: { name, revoked: true } });
    });
  };

export type DeleteDelegateToken = ReturnType<typeof deleteDelegateToken>;

const change = (verb: string, name: string) => ({
  operation: `delegate-token.${verb}`,
  resourceType: "DELEGATE",
  resourceId: name,
  scope: {},
});

/**
 * Authenticates a connecting delegate by its token. Returns undefined if the token is malformed, unknown, deleted,
 * revoked, or past its `revokeAfter`.
 */
export async function authenticateDelegate(
  { db, clock }: Pick<Deps, "db" | "clock">,
  token: string,
): Promise<{ accountId: Uuid; tokenId: Uuid } | undefined> {
  const parts = readToken("dlg", token);
  if (!parts) return undefined;
  const row = await findDelegateToken(db, parts, clock.now());
  return secretMatches(parts.secret, row?.secretHash)
    ? { accountId: parts.accountId, tokenId: parts.tokenId }
    : undefined;
}
