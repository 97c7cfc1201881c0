/**
 * Tokens: `<prefix>.<accountId>.<tokenId>.<secret>`. The secret has 256 random
 * bits, so a plain SHA-256 protects it at rest: there is nothing to guess.
 */
import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import { fromWire, toWire, type Uuid } from "../../core/ids.ts";

/** Of a person, of a service account, of delegates; and of a session, which is only ever in a cookie. */
export type TokenPrefix = "pat" | "sat" | "dlg" | "ses";
/** The parts of a token. The database has only the hash of `secret`. */
export type TokenParts = { readonly accountId: Uuid; readonly tokenId: Uuid; readonly secret: string };

const LONGEST_TOKEN = 256;

/** 32 random bytes in base64url: 43 characters. */
export const newTokenSecret = (): string => randomBytes(32).toString("base64url");
/** The stored form of a secret: 32 bytes of SHA-256. */
export const hashSecret = (secret: string): Buffer => hash("sha256", secret, "buffer");

/** The text that a client sends as its credential; `readToken` reads it. */
export const writeToken = (prefix: TokenPrefix, { accountId, tokenId, secret }: TokenParts): string =>
  `${prefix}.${toWire(accountId)}.${toWire(tokenId)}.${secret}`;

/** The parts of a well-formed token; undefined for any other text. */
export function readToken(prefix: TokenPrefix, text: string): TokenParts | undefined {
  if (text.length > LONGEST_TOKEN) return undefined;
  const [kind, account, token, secret, ...rest] = text.split(".");
  if (kind !== prefix || !account || !token || !secret || rest.length > 0) return undefined;
  const accountId = fromWire(account);
  const tokenId = fromWire(token);
  return accountId && tokenId ? { accountId, tokenId, secret } : undefined;
}

// Compared against when no token has the id, so that both ways cost the same.
const NOBODY = randomBytes(32);

/** Whether the secret is the one behind the hash, in constant time; `undefined` (no such token) never matches. */
export function secretMatches(secret: string, hash: Buffer | undefined): boolean {
  const equal = timingSafeEqual(hashSecret(secret), hash ?? NOBODY);
  return equal && hash !== undefined;
}
