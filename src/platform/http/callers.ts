/** Authenticates the sender of a request by token or session, and counts the request. */
import type { FastifyRequest } from "fastify";
import type { IncomingHttpHeaders } from "node:http";
import type { Actor } from "../../core/actor.ts";
import type { Uuid } from "../../core/ids.ts";
import { asUnauthenticated } from "../db/pool/budget.ts";
import { credentialOf } from "./credentials.ts";
import { factsOf } from "./request/request-facts.ts";
import { problem } from "./problems.ts";

/**
 * Returns the actor of a token; undefined for a token that is unknown, expired or malformed. Synchronous for a cached
 * token.
 */
export type Authenticate = (token: string) => Actor | undefined | Promise<Actor | undefined>;

/**
 * Returns the user of the session cookie, and the name under which the session's requests are counted; undefined
 * without such a cookie. Throws when the cookie is not sufficient: without its anti-forgery token, or from another
 * origin.
 */
export type SessionOf = (
  headers: IncomingHttpHeaders,
) => Promise<{ readonly actor: Actor; readonly credential: string } | undefined>;

export type CallerDeps = {
  readonly authenticate: Authenticate;
  /** Called for requests without a token. */
  readonly sessionOf?: SessionOf;
  /** Called instead for routes that are links. */
  readonly sessionOfLink?: SessionOf;
  /**
   * Counts a request of this account with this credential; throws when there are too many. Undefined if there is
   * nothing to await.
   */
  readonly count: (accountId: Uuid, credential: string) => Promise<void> | undefined;
  /** Milliseconds. */
  readonly now: () => number;
};

/** A result from the headers is valid for this time (invariant 9). */
const COUNTS_MS = 1_000;

/**
 * Authenticates by the token in the headers. The session counts only without a token, so that a wrong token is an
 * error.
 */
export function authenticateRequest(deps: CallerDeps, request: FastifyRequest): Promise<Actor> {
  const token = credentialOf(request.raw);
  request.askedAt = deps.now();
  return token === undefined ? authenticateSession(deps, request) : authenticateToken(deps, token, request);
}

/**
 * Authenticates again after the body was read, which can take long: the credential or permissions may have ended
 * meanwhile. Usually needs no query and no wait. Does not count the request again.
 */
export function reauthenticateRequest(deps: CallerDeps, request: FastifyRequest): Actor | Promise<Actor> {
  const { actor, askedAt } = request;
  if (!actor) throw problem("http.no_credential");
  const since = deps.now() - askedAt;
  return since >= 0 && since < COUNTS_MS ? actor : authenticateRequest({ ...deps, count: () => undefined }, request);
}

async function authenticateSession(deps: CallerDeps, request: FastifyRequest): Promise<Actor> {
  const signedIn = await asUnauthenticated(request, async () => deps.sessionOf?.(request.headers));
  if (!signedIn) throw problem("http.no_credential");
  const counted = deps.count(signedIn.actor.accountId, signedIn.credential);
  if (counted) await counted;
  return { ...signedIn.actor, request: factsOf(request) };
}

/** Authenticates a token and counts the request. One problem for all failures hides whether the token exists. */
export async function authenticateToken(
  deps: CallerDeps,
  token: string | undefined,
  request: FastifyRequest,
): Promise<Actor> {
  const known = token ? asUnauthenticated(request, () => deps.authenticate(token)) : undefined;
  const actor = known instanceof Promise ? await known : known;
  if (!token || !actor) throw problem("http.no_credential");
  const counted = deps.count(actor.accountId, nameOf(token, actor));
  if (counted) await counted;
  return { ...actor, request: factsOf(request) };
}

/**
 * The name under which requests of a token are counted: `pat.<account>.<id>.<secret>` without the last part. Signed
 * tokens have three parts and change often; for them, the requests of their actor are counted.
 */
const nameOf = (token: string, actor: Actor): string =>
  token.split(".", 4).length === 4 || actor.kind === "system"
    ? token.slice(0, token.lastIndexOf("."))
    : `${actor.kind}.${actor.id}`;
