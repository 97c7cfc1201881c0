import { actorId, type Actor } from "../core/actor.ts";
import type { Clock } from "../core/clock.ts";
import { NAME } from "../core/identifier.ts";
import type { NewId, Uuid } from "../core/ids.ts";
import type { Audit } from "../audit/index.ts";
import type { Authorize } from "../access/index.ts";
import { hashSecret, newTokenSecret, readToken, secretMatches, writeToken } from "../platform/crypto/tokens.ts";
import type { Db, Tx } from "../platform/db/db.ts";
import { problem } from "./problems.ts";
import { deleteToken, listDue, listTokens, revokeDue, revokeToken, type TokenView } from "./store/registry.ts";
import { findDelegateToken, insertDelegateToken } from "./store/delegates.ts";

type Deps = {
  readonly db: Db;
  readonly audit: Audit;
  readonly authorize: Authorize;
  readonly clock: Clock;
  readonly newId: NewId;
};

export type NewDelegateToken = TokenView & { readonly value: string };

/**
 * A token that delegates register with; its text is in this answer and nowhere else. From `revokeAfter` on, epoch
 * milliseconds, it is revoked by itself. Throws `delegate.token_name_taken`, `delegate.bad_revoke_after`.
 */
export type CreateDelegateToken = (
  actor: Actor,
  name: string,
  how?: { readonly revokeAfter?: number | undefined },
) => Promise<NewDelegateToken>;

export const makeCreateDelegateToken =
  (deps: Deps): CreateDelegateToken =>
  async (actor, name, { revokeAfter = null } = {}) => {
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

/** Revoked ones too, by name; never a token's text, of which only a hash is kept. */
export type ListDelegateTokens = (
  actor: Actor,
  filter: { readonly name: string | undefined; readonly status: "ACTIVE" | "REVOKED" | undefined },
) => Promise<readonly TokenView[]>;

const MAX_LISTED = 1_000;

export const makeListDelegateTokens =
  (deps: Pick<Deps, "db" | "authorize">): ListDelegateTokens =>
  async (actor, { name, status }) => {
    deps.authorize(actor, "core_delegate_view", { accountId: actor.accountId });
    const revoked = status === undefined ? undefined : status === "REVOKED";
    return listTokens(deps.db, actor.accountId, { name, revoked }, MAX_LISTED);
  };

/** Its delegates are cut off at once, on every replica, and do not get in again. Throws `delegate.no_token`. */
export type RevokeDelegateToken = (actor: Actor, name: string) => Promise<TokenView>;

export const makeRevokeDelegateToken =
  (deps: Deps & Pick<Ending, "dropped">): RevokeDelegateToken =>
  async (actor, name) => {
    const { accountId } = actor;
    deps.authorize(actor, "core_delegate_edit", { accountId });
    const at = deps.clock.now();
    const token = await end(deps, actor, (tx) => revokeToken(tx, accountId, name, at));
    if (!token) throw problem("delegate.no_token", [name]);
    return token;
  };

/** `dropped`: after the commit, whatever is connected by the token is to be cut off. */
type Ending = Pick<Deps, "db" | "audit" | "clock"> & { readonly dropped: (tokenId: Uuid) => void };

/** `take` answers the token as it is afterwards; undefined when there is none to revoke. */
const end = (
  { db, audit, clock, dropped }: Ending,
  actor: Actor,
  take: (tx: Tx) => Promise<TokenView | undefined>,
): Promise<TokenView | undefined> =>
  db.transaction(async (tx) => {
    const token = await take(tx);
    if (!token) return undefined;
    const before = { revoked: actor.kind !== "system" && token.revokedAt !== clock.now() };
    await audit.record(tx, actor, { ...change("revoke", token.name), before, after: { revoked: true } });
    tx.afterCommit(() => dropped(token.id));
    return token;
  });

/** Revokes those whose `revokeAfter` has come, as from that moment. To be called again and again; of two servers one does it. */
export const makeRevokeDue =
  (deps: Ending): (() => Promise<void>) =>
  async () => {
    const now = deps.clock.now();
    for (const { accountId, id } of await listDue(deps.db, now))
      await end(deps, { kind: "system", accountId }, (tx) => revokeDue(tx, accountId, id, now));
  };

/** Throws `delegate.no_token`. */
export type GetDelegateToken = (actor: Actor, name: string) => Promise<TokenView>;

export const makeGetDelegateToken =
  (deps: Pick<Deps, "db" | "authorize">): GetDelegateToken =>
  async (actor, name) => {
    const { accountId } = actor;
    deps.authorize(actor, "core_delegate_view", { accountId });
    const [token] = await listTokens(deps.db, accountId, { name, revoked: undefined }, 1);
    if (!token) throw problem("delegate.no_token", [name]);
    return token;
  };

/** Only a revoked one; its name is free again. Throws `delegate.no_token`, `delegate.token_live`. */
export type DeleteDelegateToken = (actor: Actor, name: string) => Promise<void>;

export const makeDeleteDelegateToken =
  (deps: Deps): DeleteDelegateToken =>
  async (actor, name) => {
    const { accountId } = actor;
    deps.authorize(actor, "core_delegate_edit", { accountId });
    await deps.db.transaction(async (tx) => {
      const outcome = await deleteToken(tx, accountId, name, deps.clock.now());
      if (outcome === "missing") throw problem("delegate.no_token", [name]);
      if (outcome === "live") throw problem("delegate.token_live", [name]);
      await deps.audit.record(tx, actor, { ...change("delete", name), before: { name, revoked: true } });
    });
  };

const change = (verb: string, name: string) => ({
  operation: `delegate-token.${verb}`,
  resourceType: "DELEGATE",
  resourceId: name,
  scope: {},
});

export async function authenticateDelegate(
  { db, clock }: Pick<Deps, "db" | "clock">,
  token: string,
): Promise<{ accountId: Uuid; tokenId: Uuid } | undefined> {
  const parts = readToken("dlg", token);
  if (!parts) return undefined;
  const row = await findDelegateToken(db, parts.accountId, parts.tokenId, clock.now());
  return secretMatches(parts.secret, row?.secretHash)
    ? { accountId: parts.accountId, tokenId: parts.tokenId }
    : undefined;
}
