/**
 * Finds the actor of a token. Results are cached for at most a second (invariant 9): a busy client costs no statement
 * per request, and a revoked token is refused within a second.
 */
import { hash } from "node:crypto";
import type { GrantsOf } from "../../access/index.ts";
import type { Actor } from "../../core/actor.ts";
import type { Clock } from "../../core/clock.ts";
import { createCachedLookup, type Lookup } from "../../platform/cached-lookup.ts";
import { hashSecret, readToken, secretMatches, type TokenParts } from "../../platform/crypto/tokens.ts";
import type { Db } from "../../platform/db/db.ts";
import { endOf, stateAt } from "../keys/token-period.ts";
import { findCredential, type CredentialRow } from "../store/credentials.ts";
import { problem } from "../problems.ts";

const CACHE_MS = 1_000;
const MAX_CACHED = 10_000;

/** The account behind a token, without its grants. */
type Person = Omit<Extract<Actor, { kind: "user" }>, "grants">;
type Principal = Person | Omit<Extract<Actor, { kind: "service_account" }>, "grants">;

type Holder = Extract<Actor, { kind: "user" }> | Extract<Actor, { kind: "service_account" }>;
type CacheEntry = { readonly principal: Principal; actor: Holder | undefined };

/**
 * Finds the actor of a token; undefined for an unknown token. Answers synchronously from the cache, which is the usual
 * case. Rejects with `identity.token_expired` or `identity.token_not_yet` for a known token outside of its period.
 */
export type Authenticate = (token: string) => Actor | undefined | Promise<Actor | undefined>;

export type Authenticator = {
  readonly authenticate: Authenticate;
  /** Clears the cache. Called when a credential has ended. */
  readonly clearCache: () => void;
};

type AuthenticatorDeps = { readonly db: Db; readonly clock: Clock; readonly grantsOf: GrantsOf };

export function createAuthenticator(deps: AuthenticatorDeps): Authenticator {
  const cache = createCachedLookup<CacheEntry>(MAX_CACHED, deps.clock.now);

  // The access slice caches grants, since it knows when they change. The actor is created anew when they have changed.
  function withGrants(entry: CacheEntry): Actor | Promise<Actor> {
    const { principal, actor } = entry;
    const type = principal.kind === "user" ? "USER" : "SERVICE_ACCOUNT";
    const grants = deps.grantsOf(principal.accountId, { type, id: principal.id });
    if (grants instanceof Promise) return grants.then((found) => ({ ...principal, grants: found }));
    return actor && actor.grants === grants ? actor : (entry.actor = { ...principal, grants });
  }

  return {
    authenticate(token) {
      // The key is a hash of the whole token, so that the cache never contains a usable credential.
      const found = cache.find(hash("sha256", token, "base64"), (begun) => findPrincipal(deps, token, begun));
      return found instanceof Promise ? found.then((entry) => entry && withGrants(entry)) : withGrants(found);
    },
    clearCache: cache.clear,
  };
}

async function findPrincipal(
  { db, clock }: Pick<AuthenticatorDeps, "db" | "clock">,
  token: string,
  begun: number,
): Promise<Lookup<CacheEntry> | undefined> {
  const kind = token.startsWith("sat.") ? "sat" : "pat";
  const parts = readToken(kind, token);
  if (!parts) return undefined;
  const row = await findCredential(db, parts.accountId, parts.tokenId, hashSecret(parts.secret));
  // Compared in constant time and in every case: an existing id and an unknown id take the same time.
  if (!secretMatches(parts.secret, row?.secretHash) || !row) return undefined;
  const principal = principalOf(parts, row);
  if (!principal || (principal.kind === "user") !== (kind === "pat")) return undefined;
  // The statement may have waited long for a connection.
  const state = stateAt(row, clock.now());
  if (state === "expired") throw problem("identity.token_expired");
  if (state === "not yet") throw problem("identity.token_not_yet");
  const end = endOf(row) ?? Infinity;
  return { value: { principal, actor: undefined }, until: Math.min(begun + CACHE_MS, end + 1) };
}

function principalOf({ accountId, tokenId }: TokenParts, row: CredentialRow): Principal | undefined {
  const { name, email, userId, serviceAccountId, identifier } = row;
  const credential = { kind: "token", accountId, id: tokenId } as const;
  if (userId) return { kind: "user", accountId, id: userId, name, email, credential };
  if (!serviceAccountId || identifier === null) return undefined;
  return { kind: "service_account", accountId, id: serviceAccountId, identifier, name, email, credential };
}
