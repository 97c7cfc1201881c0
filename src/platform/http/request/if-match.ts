import type { Call } from "../routes.ts";
import { problem } from "../problems.ts";

const VERSION = /^(?:W\/)?"?(\d{1,9})"?$/;

/**
 * The version that the caller has read, from `If-Match` (RFC 9110 section 13.1.1; this API family sends the bare
 * number); undefined when it does not care, also for `*`. Throws `http.bad_if_match`.
 */
export function ifMatch(call: Pick<Call, "headers">): number | undefined {
  const given = call.headers["if-match"];
  if (given === undefined || given === "*") return undefined;
  const version = typeof given === "string" ? VERSION.exec(given.trim())?.[1] : undefined;
  if (version === undefined) throw problem("http.bad_if_match");
  return Number(version);
}
