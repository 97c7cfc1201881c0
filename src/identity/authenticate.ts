/**
 * From a token to an actor. Answers are kept for at most a second (law 9), so
 * that a busy client costs no statement per request and a revoked token none
 * of its holders for longer than that.
 */
import { hash } from "node:crypto";
import type { Actor } from "../core/actor.ts";
import type { Clock } from "../core/clock.ts";
import { makeLru } from "../core/lru.ts";
import { readToken, secretMatches } from "../platform/crypto/tokens.ts";
import type { Db } from "../platform/db/db.ts";
import { findToken } from "./store.ts";

const KEEP_MS = 1_000;
const MAX_KEPT = 10_000;

export type Authenticate = (token: string) => Promise<Actor | undefined>;

export function makeAuthenticate(deps: { db: Db; clock: Clock }): Authenticate {
  // By the hash of the whole token: the cache never holds a usable credential.
  const kept = makeLru<string, { actor: Actor; until: number }>(MAX_KEPT);

  return async (token) => {
    const key = hash("sha256", token, "base64");
    const now = deps.clock.now();
    const known = kept.get(key);
    if (known && known.until > now) return known.actor;
    kept.delete(key);
    const actor = await lookUp(deps.db, token, now);
    if (!actor) return undefined;
    kept.set(key, { actor, until: now + KEEP_MS });
    return actor;
  };
}

async function lookUp(db: Db, token: string, now: number): Promise<Actor | undefined> {
  const parts = readToken("pat", token);
  if (!parts) return undefined;
  const row = await findToken(db, parts.accountId, parts.tokenId);
  if (!secretMatches(parts.secret, row?.secretHash) || !row) return undefined;
  if (row.expiresAt !== null && row.expiresAt <= now) return undefined;
  return { kind: "user", accountId: parts.accountId, id: row.userId, name: row.name, email: row.email, role: row.role };
}
