/**
 * From a token to an actor. Answers are kept for at most a second (law 9), so
 * that a busy client costs no statement per request and a revoked token none
 * of its holders for longer than that.
 */
import { hash } from "node:crypto";
import type { GrantsOf } from "../access/index.ts";
import type { Actor } from "../core/actor.ts";
import type { Clock } from "../core/clock.ts";
import { makeLru } from "../core/lru.ts";
import { readToken, secretMatches } from "../platform/crypto/tokens.ts";
import type { Db } from "../platform/db/db.ts";
import { findToken } from "./store.ts";

const KEEP_MS = 1_000;
const MAX_KEPT = 10_000;

type Person = Omit<Extract<Actor, { kind: "user" }>, "grants">;

/** At once when it was asked less than a second ago: nothing to wait for in the usual case. */
export type Authenticate = (token: string) => Actor | undefined | Promise<Actor | undefined>;

export function makeAuthenticate(deps: { db: Db; clock: Clock; grantsOf: GrantsOf }): Authenticate {
  // By the hash of the whole token: the cache never holds a usable credential.
  const kept = makeLru<string, { person: Person; until: number }>(MAX_KEPT);

  async function keep(key: string, token: string, now: number): Promise<Actor | undefined> {
    kept.delete(key);
    const person = await lookUp(deps.db, token, now);
    if (!person) return undefined;
    kept.set(key, { person, until: now + KEEP_MS });
    return withGrants(person);
  }

  // Grants are kept by whoever knows when they change, not with the token.
  function withGrants(person: Person): Actor | Promise<Actor> {
    const grants = deps.grantsOf(person.accountId, { type: "USER", id: person.id });
    if (grants instanceof Promise) return grants.then((found) => ({ ...person, grants: found }));
    return { ...person, grants };
  }

  return (token) => {
    const key = hash("sha256", token, "base64");
    const now = deps.clock.now();
    const known = kept.get(key);
    return known && known.until > now ? withGrants(known.person) : keep(key, token, now);
  };
}

async function lookUp(db: Db, token: string, now: number): Promise<Person | undefined> {
  const parts = readToken("pat", token);
  if (!parts) return undefined;
  const row = await findToken(db, parts.accountId, parts.tokenId);
  if (!secretMatches(parts.secret, row?.secretHash) || !row) return undefined;
  if (row.expiresAt !== null && row.expiresAt <= now) return undefined;
  return { kind: "user", accountId: parts.accountId, id: row.userId, name: row.name, email: row.email };
}
