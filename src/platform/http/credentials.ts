/** Where a request carries its credential: `x-api-key`, or `authorization: Bearer`. Nowhere else in the headers. */
import type { IncomingMessage } from "node:http";
import { problem } from "./problems.ts";

/**
 * The token of a request's headers; undefined when there is none.
 * Several that disagree are refused, also within one name (of which Node shows only the first
 * elsewhere): whoever sends them must not depend on which one wins.
 */
export function credentialOf({ rawHeaders }: Pick<IncomingMessage, "rawHeaders">): string | undefined {
  let found: string | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const token = tokenIn(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
    if (token === undefined) continue;
    if (found !== undefined && found !== token) throw problem("http.two_credentials");
    found = token;
  }
  return found;
}

function tokenIn(name: string, value: string): string | undefined {
  // By the length first: most headers are others, in letters of any case.
  if (name.length === "x-api-key".length && name.toLowerCase() === "x-api-key") return value;
  if (name.length === "authorization".length && name.toLowerCase() === "authorization") return bearerOf(value);
  return undefined;
}

function bearerOf(authorization: string): string {
  const [scheme, token, ...rest] = authorization.trim().split(/ +/);
  // Another scheme is a credential that is wrong, not a missing one.
  return scheme?.toLowerCase() === "bearer" && token && rest.length === 0 ? token : "";
}
