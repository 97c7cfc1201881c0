/** Verifies a signed token and returns its claims. Rejects with the reason otherwise, which only the log shows. */
import { compactVerify, decodeProtectedHeader } from "jose";
import { parseDocument } from "../../platform/document/document.ts";
import type { Key, KeySource } from "./keys.ts";

export type Claims = Readonly<Record<string, unknown>>;

/** The longest token in characters; it is a header of a request. */
const MAX_TOKEN = 8 * 1024;
const SKEW_S = 60;
/** Three parts of base64url; an encrypted token has five. */
const COMPACT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

export const isCompact = (token: string): boolean => token.length <= MAX_TOKEN && COMPACT.test(token);

/** `url` is that of the key set, `now` is in epoch milliseconds. Rejects for an invalid token. */
export async function verifyToken(
  token: string,
  { url, keys, now }: { readonly url: string; readonly keys: KeySource; readonly now: number },
): Promise<Claims> {
  if (!isCompact(token)) throw new Error("it is no signed token");
  const header = object(Buffer.from(token.split(".")[0] ?? "", "base64url"));
  // Key locations in the token (jku, x5u, jwk, x5c) are ignored.
  const { alg, kid } = decodeProtectedHeader(token);
  if (header["crit"] !== undefined) throw new Error("it asks for what is not understood (crit)");
  if (typeof alg !== "string" || (kid !== undefined && typeof kid !== "string")) throw new Error("its header is wrong");
  const key = keyFor(await keys.keysOf(url, false), alg, kid) ?? keyFor(await keys.keysOf(url, true), alg, kid);
  if (!key) throw new Error(whyNone(keys.failureOf(url)));
  const { payload } = await compactVerify(token, await key.open(alg), { algorithms: [alg] });
  const claims = object(payload);
  checkTimes(claims, now / 1_000);
  return claims;
}

/** The failure of the key set, if any, is the more useful reason. */
const whyNone = (failure: string | undefined): string =>
  failure === undefined ? "no key of the set fits" : `no key fits, and the key set could not be fetched: ${failure}`;

/** The one key that the header names; undefined if several match. */
function keyFor(keys: readonly Key[], alg: string, kid: string | undefined): Key | undefined {
  const fitting = keys.filter((key) => key.algorithms.includes(alg) && (kid === undefined || key.kid === kid));
  return fitting.length === 1 ? fitting[0] : undefined;
}

/** Refuses duplicate names, since parsers differ in which one they use. */
function object(bytes: Uint8Array): Claims {
  const { value } = parseDocument(bytes, { format: "json", maxBytes: MAX_TOKEN, maxNodes: 500, maxDepth: 10 });
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error("it is no object");
  return value as Claims;
}

function checkTimes({ exp, nbf }: Claims, now: number): void {
  if (typeof exp !== "number") throw new Error("it does not say when it ends (exp)");
  if (now >= exp + SKEW_S) throw new Error("it has expired");
  if (nbf !== undefined && (typeof nbf !== "number" || now < nbf - SKEW_S)) throw new Error("it does not hold yet");
}
