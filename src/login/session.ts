/** A session: one person, signed in with one browser. */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { Uuid } from "../core/ids.ts";
import { hashSecret, newTokenSecret, readToken, writeToken } from "../platform/crypto/tokens.ts";

export type Session = {
  readonly id: Uuid;
  readonly userId: Uuid;
  readonly method: SignInMethod;
  readonly remoteAddress: string;
  readonly userAgent: string;
  readonly createdAt: number;
  readonly lastSeenAt: number;
  /** The end that no activity puts off. */
  readonly expiresAt: number;
};

export type SignInMethod = "PASSWORD" | "OPENID_CONNECT";

/** How long a session lasts: without a request, and altogether. */
export type Lifetimes = { readonly idleMs: number; readonly mostMs: number };

export type SessionSecret = { readonly accountId: Uuid; readonly id: Uuid; readonly secret: string };

export const newSessionSecret = newTokenSecret;
export const hashOf = hashSecret;

/** The text of the cookie. No interface takes it as a token: those begin otherwise. */
export const writeSession = ({ accountId, id, secret }: SessionSecret): string =>
  writeToken("ses", { accountId, tokenId: id, secret });

export function readSession(text: string): SessionSecret | undefined {
  const parts = readToken("ses", text);
  return parts && { accountId: parts.accountId, id: parts.tokenId, secret: parts.secret };
}

/** Bound to the session by its secret, and of no use for finding that: a page may know it, a cookie may not replace it. */
export const csrfTokenOf = ({ secret }: Pick<SessionSecret, "secret">): string =>
  createHmac("sha256", secret).update("railhead anti-forgery token").digest("base64url");

export function isCsrfTokenOf(session: Pick<SessionSecret, "secret">, given: unknown): boolean {
  const right = Buffer.from(csrfTokenOf(session));
  const sent = Buffer.from(typeof given === "string" ? given : "");
  return sent.length === right.length && timingSafeEqual(sent, right);
}

/** Whoever came in with a one-time password has to choose another first; the provider's word needs no password. */
export const mustChange = (person: { readonly mustChangePassword: boolean }, method: SignInMethod): boolean =>
  person.mustChangePassword && method === "PASSWORD";

export const isOver = (
  session: Pick<Session, "lastSeenAt" | "expiresAt">,
  { idleMs }: Lifetimes,
  now: number,
): boolean => session.expiresAt <= now || session.lastSeenAt + idleMs <= now;
