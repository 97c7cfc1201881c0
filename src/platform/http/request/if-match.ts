import type { Call } from "../routes.ts";
import { problem } from "../problems.ts";

const VERSION = /^(?:W\/)?"?(\d{1,9})"?$/;

/**
 * Reads the expected version from `If-Match` (RFC 9110 section 13.1.1; this API family sends a bare number);
 * undefined without the header and for `*`. Throws `http.bad_if_match`.
 */
export function ifMatch(call: Pick<Call, "headers">): number | undefined {
  const given = call.headers["if-match"];
  if (given === undefined || given === "*") return undefined;
  const version = typeof given === "string" ? VERSION.exec(given.trim())?.[1] : undefined;
  if (version === undefined) throw problem("http.bad_if_match");
  return Number(version);
}
