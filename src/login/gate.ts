/**
 * Finds the session in the headers of a request. Results are cached for at most a second (invariant 9), so an ended
 * session is refused on every replica within that time.
 */
import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Clock } from "../core/clock.ts";
import { asRefusal } from "../core/refused.ts";
import type { Uuid } from "../core/ids.ts";
import { createLru } from "../core/lru.ts";
import { secretMatches } from "../platform/crypto/tokens.ts";
import type { Db } from "../platform/db/db.ts";
import type { Cookies } from "./cookies.ts";
import { isOwnOrigin } from "./origin.ts";
import type { People, Person } from "./people.ts";
import { problem } from "./problems.ts";
import {
  isCsrfTokenOf,
  isOver,
  mustChange,
  readSession,
  type Lifetimes,
  type Session,
  type SessionSecret,
} from "./session.ts";
import { findSession, noteSeen } from "./store/sessions.ts";

/** A valid session and its person. */
export type Live = {
  readonly accountId: Uuid;
  readonly session: Session;
  readonly secret: SessionSecret;
  readonly person: Person;
};

export type Gate = {
  /**
   * Checks the cookie and the origin: for reads that tell the browser who is signed in. Throws `login.other_origin`.
   */
  readonly look: (headers: IncomingHttpHeaders) => Promise<Live | undefined>;
  /**
   * Checks the anti-forgery token, too. Throws `login.no_session` without a session, `login.must_change` while the
   * person has a one-time password.
   */
  readonly enter: (headers: IncomingHttpHeaders) => Promise<Live>;
  /**
   * As `enter`, and also allows a one-time password: for changing it, and for listing and ending sessions. A stolen
   * one-time password must not give access that lasts longer than the password itself.
   */
  readonly enterWithOneTime: (headers: IncomingHttpHeaders) => Promise<Live>;
  /**
   * As a credential of the API: undefined without a session. Throws `login.must_change` while the person has a one-time
   * password.
   */
  readonly credential: (headers: IncomingHttpHeaders) => Promise<Live | undefined>;
  /** Clears the cache. Called when a session has ended on any replica. */
  readonly forget: () => void;
};

type Deps = {
  readonly db: Db;
  readonly clock: Clock;
  readonly people: Pick<People, "byId">;
  readonly cookies: Cookies;
  readonly lifetimes: Lifetimes;
  readonly publicUrl: () => string;
};

const KEEP_MS = 1_000;
const MAX_KEPT = 10_000;
/** The precision of `lastSeenAt` in milliseconds. */
const SEEN_MS = 60_000;

export function createSessionGuard(deps: Deps): Gate {
  // The key is a hash, so that a memory dump contains no cookie.
  const none = () => createLru<string, { readonly live: Live; readonly until: number }>(MAX_KEPT);
  let kept = none();

  async function find(headers: IncomingHttpHeaders): Promise<Live | undefined> {
    const cookie = deps.cookies.read(headers, "session");
    if (cookie === undefined) return undefined;
    const key = hash("sha256", cookie, "base64");
    const now = deps.clock.now();
    const known = kept.get(key);
    if (known && known.until > now) return known.live;
    kept.delete(key);
    // A result read before `forget` goes into the discarded cache.
    const keeping = kept;
    const live = await lookUp(deps, cookie, now);
    if (live) keeping.set(key, { live, until: now + KEEP_MS });
    return live;
  }

  async function look(headers: IncomingHttpHeaders): Promise<Live | undefined> {
    const live = await find(headers);
    if (live && !isOwnOrigin(headers, deps.publicUrl())) throw refused(live, "login.other_origin");
    return live;
  }

  async function checked(headers: IncomingHttpHeaders): Promise<Live | undefined> {
    const live = await look(headers);
    if (live && !isCsrfTokenOf(live.secret, headers["x-csrf-token"])) throw refused(live, "login.no_csrf");
    return live;
  }

  async function lasting(headers: IncomingHttpHeaders): Promise<Live | undefined> {
    const live = await checked(headers);
    if (live && mustChange(live.person, live.session.method)) throw refused(live, "login.must_change");
    return live;
  }

  return {
    look,
    enter: async (headers) => required(await lasting(headers)),
    enterWithOneTime: async (headers) => required(await checked(headers)),
    credential: lasting,
    forget: () => void (kept = none()),
  };
}

function required(live: Live | undefined): Live {
  if (!live) throw problem("login.no_session");
  return live;
}

/**
 * The refusal with the session's person as its actor, for the audit trail: the session is valid, and a foreign page may
 * have used it.
 */
const refused = (
  { accountId, person: { id, name, email } }: Live,
  code: "login.other_origin" | "login.no_csrf" | "login.must_change",
): Error => asRefusal(problem(code), { kind: "user", accountId, id, name, email, grants: [] });

async function lookUp(deps: Deps, cookie: string, now: number): Promise<Live | undefined> {
  const secret = readSession(cookie);
  if (!secret) return undefined;
  const { accountId } = secret;
  const row = await findSession(deps.db, accountId, secret.id);
  if (!secretMatches(secret.secret, row?.secretHash) || !row || isOver(row, deps.lifetimes, now)) return undefined;
  const { secretHash: _, ...session } = row;
  const person = await deps.people.byId(accountId, session.userId);
  if (!person) return undefined;
  if (session.lastSeenAt + SEEN_MS <= now) await noteSeen(deps.db, accountId, session.id, now);
  return { accountId, session, secret, person };
}
