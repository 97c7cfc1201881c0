/** Who sends a request: the actor behind its token or its session, counted. */
import type { FastifyRequest } from "fastify";
import type { IncomingHttpHeaders } from "node:http";
import type { Actor } from "../../core/actor.ts";
import type { Uuid } from "../../core/ids.ts";
import { credentialOf } from "./credentials.ts";
import { factsOf } from "./request/request-facts.ts";
import { problem } from "./problems.ts";

/** Who a token belongs to; undefined for a token that is unknown, expired or malformed. At once when it was asked just now. */
export type Authenticate = (token: string) => Actor | undefined | Promise<Actor | undefined>;

/**
 * Who is signed in by the cookie of a request, and what that session is called when requests are counted; undefined
 * without such a cookie. Throws when the cookie alone is not enough: without its anti-forgery token, or from another origin.
 */
export type SessionOf = (
  headers: IncomingHttpHeaders,
) => Promise<{ readonly actor: Actor; readonly credential: string } | undefined>;

export type CallerDeps = {
  readonly authenticate: Authenticate;
  /** Asked for requests without a token. */
  readonly sessionOf?: SessionOf;
  /** Counts a request of this account with this credential; throws when there are too many. Undefined: nothing to wait for. */
  readonly count: (accountId: Uuid, credential: string) => Promise<void> | undefined;
  /** Milliseconds. */
  readonly now: () => number;
};

/** For so long what was found out from the headers counts (invariant 9). */
const COUNTS_MS = 1_000;

/** Who sends a request: by the token in its headers; by its session only when there is none, so that a wrong token stays wrong. */
export function callerOf(deps: CallerDeps, request: FastifyRequest): Promise<Actor> {
  const token = credentialOf(request.raw);
  request.askedAt = deps.now();
  return token === undefined ? signedInOf(deps, request) : actorOf(deps, token, request);
}

/**
 * The same once the body has been read, which a client may take its time to send: whoever has lost credential or rights
 * meanwhile does not act by them. Nothing to ask, and nothing to wait for, in the usual case. Not counted again.
 */
export function callerStill(deps: CallerDeps, request: FastifyRequest): Actor | Promise<Actor> {
  const { actor, askedAt } = request;
  if (!actor) throw problem("http.no_credential");
  const since = deps.now() - askedAt;
  return since >= 0 && since < COUNTS_MS ? actor : callerOf({ ...deps, count: () => undefined }, request);
}

async function signedInOf(deps: CallerDeps, request: FastifyRequest): Promise<Actor> {
  const signedIn = await deps.sessionOf?.(request.headers);
  if (!signedIn) throw problem("http.no_credential");
  const counted = deps.count(signedIn.actor.accountId, signedIn.credential);
  if (counted) await counted;
  return { ...signedIn.actor, request: factsOf(request) };
}

/** Whose token it is, or the one problem that hides whether it exists. Counts the request. */
export async function actorOf(deps: CallerDeps, token: string | undefined, request: FastifyRequest): Promise<Actor> {
  const known = token ? deps.authenticate(token) : undefined;
  const actor = known instanceof Promise ? await known : known;
  if (!token || !actor) throw problem("http.no_credential");
  const counted = deps.count(actor.accountId, nameOf(token, actor));
  if (counted) await counted;
  return { ...actor, request: factsOf(request) };
}

/**
 * `pat.<account>.<id>.<secret>` names its token without the last part. A signed token has three parts and is made anew all
 * the time, so that whom it speaks for is counted.
 */
const nameOf = (token: string, actor: Actor): string =>
  token.split(".", 4).length === 4 || actor.kind === "system"
    ? token.slice(0, token.lastIndexOf("."))
    : `${actor.kind}.${actor.id}`;
