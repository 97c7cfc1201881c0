/**
 * From a token to an actor. Answers are kept for at most a second (invariant 9), so
 * that a busy client costs no statement per request and a revoked token none
 * of its holders for longer than that.
 */
import { hash } from "node:crypto";
import type { GrantsOf } from "../access/index.ts";
import type { Actor } from "../core/actor.ts";
import type { Clock } from "../core/clock.ts";
import { createLru } from "../core/lru.ts";
import { hashSecret, readToken, secretMatches, type TokenParts } from "../platform/crypto/tokens.ts";
import type { Db } from "../platform/db/db.ts";
import { endOf, standingAt } from "./keys/expiry.ts";
import { findCredential, type CredentialRow } from "./store/standing.ts";
import { problem } from "./problems.ts";

const KEEP_MS = 1_000;
const MAX_KEPT = 10_000;

/** Who it is, before what they may do is known. */
type Person = Omit<Extract<Actor, { kind: "user" }>, "grants">;
type Principal = Person | Omit<Extract<Actor, { kind: "service_account" }>, "grants">;

type Holder = Extract<Actor, { kind: "user" }> | Extract<Actor, { kind: "service_account" }>;
type Kept = {
  readonly principal: Principal;
  readonly until: number;
  actor: Holder | undefined;
};

/**
 * Whose token it is; undefined for what is no token of anybody. At once when it was asked less than a second ago:
 * nothing to wait for in the usual case. Whoever holds the right text of a token that does not hold now is told so:
 * rejects with `identity.token_expired`, `identity.token_not_yet`.
 */
export type Authenticate = (token: string) => Actor | undefined | Promise<Actor | undefined>;

export type Authenticating = {
  readonly authenticate: Authenticate;
  /** Forgets every answer: some credential has ended. */
  readonly forget: () => void;
};

export function createAuthenticating(deps: { db: Db; clock: Clock; grantsOf: GrantsOf }): Authenticating {
  // By the hash of the whole token: the cache never holds a usable credential.
  let kept = createLru<string, Kept>(MAX_KEPT);

  async function keep(key: string, token: string, now: number): Promise<Actor | undefined> {
    kept.delete(key);
    // Forgetting leaves the old map behind: an answer that was under way then is not kept for anybody.
    const here = kept;
    const found = await lookUp(deps.db, token, now);
    if (!found) return undefined;
    const entry: Kept = { principal: found.principal, until: Math.min(now + KEEP_MS, found.end + 1), actor: undefined };
    here.set(key, entry);
    return withGrants(entry);
  }

  // Grants are kept by whoever knows when they change, not with the token: the actor is made anew when they did.
  function withGrants(entry: Kept): Actor | Promise<Actor> {
    const { principal, actor } = entry;
    const type = principal.kind === "user" ? "USER" : "SERVICE_ACCOUNT";
    const grants = deps.grantsOf(principal.accountId, { type, id: principal.id });
    if (grants instanceof Promise) return grants.then((found) => ({ ...principal, grants: found }));
    return actor && actor.grants === grants ? actor : (entry.actor = { ...principal, grants });
  }

  return {
    authenticate(token) {
      const key = hash("sha256", token, "base64");
      const now = deps.clock.now();
      const known = kept.get(key);
      return known && known.until > now ? withGrants(known) : keep(key, token, now);
    },
    forget: () => void (kept = createLru(MAX_KEPT)),
  };
}

type Found = { readonly principal: Principal; readonly end: number };

async function lookUp(db: Db, token: string, now: number): Promise<Found | undefined> {
  const kind = token.startsWith("sat.") ? "sat" : "pat";
  const parts = readToken(kind, token);
  if (!parts) return undefined;
  const row = await findCredential(db, parts.accountId, parts.tokenId, hashSecret(parts.secret));
  // Compared in constant time, and in any case: an id that exists and one that does not cost the same.
  if (!secretMatches(parts.secret, row?.secretHash) || !row) return undefined;
  const principal = principalOf(parts, row);
  if (!principal || (principal.kind === "user") !== (kind === "pat")) return undefined;
  const standing = standingAt(row, now);
  if (standing === "expired") throw problem("identity.token_expired");
  if (standing === "not yet") throw problem("identity.token_not_yet");
  return { principal, end: endOf(row) ?? Infinity };
}

function principalOf({ accountId, tokenId }: TokenParts, row: CredentialRow): Principal | undefined {
  const { name, email, userId, serviceAccountId, identifier } = row;
  const credential = { kind: "token", accountId, id: tokenId } as const;
  if (userId) return { kind: "user", accountId, id: userId, name, email, credential };
  if (!serviceAccountId || identifier === null) return undefined;
  return { kind: "service_account", accountId, id: serviceAccountId, identifier, name, email, credential };
}
