/**
 * From the headers of a request to the session in them. Answers are kept for at most a second (invariant 9): a session that is
 * ended anywhere is over everywhere within that.
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

/** A session that holds now, with whose it is. */
export type Live = {
  readonly accountId: Uuid;
  readonly session: Session;
  readonly secret: SessionSecret;
  readonly person: Person;
};

export type Gate = {
  /** The session of the cookie alone: for what only tells the browser who it is. Throws for pages from elsewhere. */
  readonly look: (headers: IncomingHttpHeaders) => Promise<Live | undefined>;
  /**
   * With its anti-forgery token: for everything else. Throws `login.no_session` without a session, `login.must_change`
   * while the one-time password stands.
   */
  readonly enter: (headers: IncomingHttpHeaders) => Promise<Live>;
  /**
   * With a one-time password too. For the change of it, and for seeing and ending one's sessions: whoever has stolen such
   * a password must get nothing by it that outlives it.
   */
  readonly enterWithOneTime: (headers: IncomingHttpHeaders) => Promise<Live>;
  /** As a credential of the interface: undefined without a session, refused while the one-time password stands. */
  readonly credential: (headers: IncomingHttpHeaders) => Promise<Live | undefined>;
  /** Forgets what is kept in memory: something has ended, here or on another replica. */
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
/** How exactly it is known when somebody was last here. */
const SEEN_MS = 60_000;

export function createSessionGuard(deps: Deps): Gate {
  // By a hash: what is kept in memory is of no use as a cookie.
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
    // What is read before something ends is not kept after it.
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

/** The trail is told whose session it was: the person has shown who they are, or a page of elsewhere has used their browser. */
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
