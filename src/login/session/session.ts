/** A session: one person, signed in with one browser. */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { Uuid } from "../../core/ids.ts";
import { hashSecret, newTokenSecret, readToken, writeToken } from "../../platform/crypto/tokens.ts";

export type Session = {
  readonly id: Uuid;
  readonly userId: Uuid;
  readonly method: SignInMethod;
  readonly remoteAddress: string;
  readonly userAgent: string;
  readonly createdAt: number;
  readonly lastSeenAt: number;
  /** The end that requests do not postpone. */
  readonly expiresAt: number;
};

export type SignInMethod = "PASSWORD" | "OPENID_CONNECT";

/** Lifetime of a session in milliseconds: without a request, and in total. */
export type Lifetimes = { readonly idleMs: number; readonly mostMs: number };

export type SessionSecret = { readonly accountId: Uuid; readonly id: Uuid; readonly secret: string };

export const newSessionSecret = newTokenSecret;
export const hashOf = hashSecret;

/** The text of the cookie. Its prefix differs from that of tokens, so the API never accepts it as one. */
export const writeSession = ({ accountId, id, secret }: SessionSecret): string =>
  writeToken("ses", { accountId, tokenId: id, secret });

export function readSession(text: string): SessionSecret | undefined {
  const parts = readToken("ses", text);
  return parts && { accountId: parts.accountId, id: parts.tokenId, secret: parts.secret };
}

/**
 * The anti-forgery token, derived from the session's secret. A page may know it: the secret cannot be computed from it.
 */
export const csrfTokenOf = ({ secret }: Pick<SessionSecret, "secret">): string =>
  createHmac("sha256", secret).update("railhead anti-forgery token").digest("base64url");

export function isCsrfTokenOf(session: Pick<SessionSecret, "secret">, given: unknown): boolean {
  const right = Buffer.from(csrfTokenOf(session));
  const sent = Buffer.from(typeof given === "string" ? given : "");
  return sent.length === right.length && timingSafeEqual(sent, right);
}

/** Whether the person has to change a one-time password first. Single sign-on needs no password. */
export const mustChange = (person: { readonly mustChangePassword: boolean }, method: SignInMethod): boolean =>
  person.mustChangePassword && method === "PASSWORD";

export const isExpired = (
  session: Pick<Session, "lastSeenAt" | "expiresAt">,
  { idleMs }: Lifetimes,
  now: number,
): boolean => session.expiresAt <= now || session.lastSeenAt + idleMs <= now;
