/**
 * Finds the session in the headers of a request. Results are cached for at most a second (invariant 9), so an ended
 * session is refused on every replica within that time.
 */
import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Clock } from "../../core/clock.ts";
import type { Uuid } from "../../core/ids.ts";
import { createCachedLookup } from "../../platform/cached-lookup.ts";
import { secretMatches } from "../../platform/crypto/tokens.ts";
import type { Db } from "../../platform/db/db.ts";
import type { Cookies } from "./cookies.ts";
import { isOwnLink, isOwnOrigin } from "./origin.ts";
import type { People, Person } from "../people.ts";
import { problem } from "../problems.ts";
import {
  isCsrfTokenOf,
  isExpired,
  mustChange,
  readSession,
  type Lifetimes,
  type Session,
  type SessionSecret,
} from "./session.ts";
import { selectSession, updateLastSeen } from "../store/sessions.ts";

/** A valid session and its person. */
export type LiveSession = {
  readonly accountId: Uuid;
  readonly session: Session;
  readonly secret: SessionSecret;
  readonly person: Person;
};

export type SessionGuard = {
  /**
   * Checks the cookie and the origin: for reads that tell the browser who is signed in. Throws `login.other_origin`.
   */
  readonly findSession: (headers: IncomingHttpHeaders) => Promise<LiveSession | undefined>;
  /**
   * Checks the anti-forgery token, too. Throws `login.no_session` without a session, `login.must_change` while the
   * person has a one-time password.
   */
  readonly requireSession: (headers: IncomingHttpHeaders) => Promise<LiveSession>;
  /**
   * As `requireSession`, and also allows a one-time password: for changing it, and for listing and ending sessions. A
   * stolen one-time password must not give access that lasts longer than the password itself.
   */
  readonly requireWithOneTimePassword: (headers: IncomingHttpHeaders) => Promise<LiveSession>;
  /**
   * As a credential of the API: undefined without a session. Throws `login.must_change` while the person has a one-time
   * password.
   */
  readonly findCredential: (headers: IncomingHttpHeaders) => Promise<LiveSession | undefined>;
  /** The same for a link: without the token if the browser says that a person follows it on a page of this server. */
  readonly findCredentialOfLink: (headers: IncomingHttpHeaders) => Promise<LiveSession | undefined>;
  /** Clears the cache. Called when a session has ended on any replica. */
  readonly clearCache: () => void;
};

type Deps = {
  readonly db: Db;
  readonly clock: Clock;
  readonly people: Pick<People, "byId">;
  readonly cookies: Cookies;
  readonly lifetimes: Lifetimes;
  readonly publicUrl: () => string;
};

const CACHE_MS = 1_000;
const MAX_CACHED = 10_000;
/** The precision of `lastSeenAt` in milliseconds. */
const LAST_SEEN_PRECISION_MS = 60_000;

export function createSessionGuard(deps: Deps): SessionGuard {
  const cache = createCachedLookup<LiveSession>(MAX_CACHED, deps.clock.now);

  async function findCached(headers: IncomingHttpHeaders): Promise<LiveSession | undefined> {
    const cookie = deps.cookies.read(headers, "session");
    if (cookie === undefined) return undefined;
    // The key is a hash, so that a memory dump contains no cookie.
    return cache.find(hash("sha256", cookie, "base64"), async (begun) => {
      const live = await loadSession(deps, cookie);
      return live && { value: live, until: begun + CACHE_MS };
    });
  }

  async function findSession(headers: IncomingHttpHeaders): Promise<LiveSession | undefined> {
    const live = await findCached(headers);
    if (live && !isOwnOrigin(headers, deps.publicUrl())) throw refusalOf(live, "login.other_origin");
    return live;
  }

  async function findWithToken(headers: IncomingHttpHeaders): Promise<LiveSession | undefined> {
    const live = await findSession(headers);
    if (live && !isCsrfTokenOf(live.secret, headers["x-csrf-token"])) throw refusalOf(live, "login.no_csrf");
    return live;
  }

  function checkPassword(live: LiveSession | undefined): LiveSession | undefined {
    if (live && mustChange(live.person, live.session.method)) throw refusalOf(live, "login.must_change");
    return live;
  }

  const findCredential: SessionGuard["findCredential"] = async (headers) => checkPassword(await findWithToken(headers));

  return {
    findSession,
    requireSession: async (headers) => requirePresent(await findCredential(headers)),
    requireWithOneTimePassword: async (headers) => requirePresent(await findWithToken(headers)),
    findCredential,
    findCredentialOfLink: async (headers) =>
      isOwnLink(headers) ? checkPassword(await findSession(headers)) : findCredential(headers),
    clearCache: cache.clear,
  };
}

function requirePresent(live: LiveSession | undefined): LiveSession {
  if (!live) throw problem("login.no_session");
  return live;
}

/**
 * The refusal with the session's person as its actor, for the audit trail: the session is valid, and a foreign page may
 * have used it.
 */
const refusalOf = (
  { accountId, person: { id, name, email } }: LiveSession,
  code: "login.other_origin" | "login.no_csrf" | "login.must_change",
): Error => problem(code, [], { refusal: { actor: { kind: "user", accountId, id, name, email, grants: [] } } });

async function loadSession(deps: Deps, cookie: string): Promise<LiveSession | undefined> {
  const secret = readSession(cookie);
  if (!secret) return undefined;
  const { accountId } = secret;
  const row = await selectSession(deps.db, accountId, secret.id);
  // The statement may have waited long for a connection.
  const now = deps.clock.now();
  if (!secretMatches(secret.secret, row?.secretHash) || !row || isExpired(row, deps.lifetimes, now)) return undefined;
  const { secretHash: _, ...session } = row;
  const person = await deps.people.byId(accountId, session.userId);
  if (!person) return undefined;
  if (session.lastSeenAt + LAST_SEEN_PRECISION_MS <= now)
    await updateLastSeen(deps.db, { accountId, id: session.id }, now);
  return { accountId, session, secret, person };
}
