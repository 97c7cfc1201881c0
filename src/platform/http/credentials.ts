/** Reads the credential from the headers `x-api-key` or `authorization: Bearer`. No other header carries one. */
import type { IncomingMessage } from "node:http";
import { problem } from "./problems.ts";

/**
 * Returns the token of the headers; undefined without one. Several different tokens are rejected, also within one
 * header name (Node shows only the first elsewhere): the result must not depend on their order.
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
  // The length is compared first, because most headers have other names.
  if (name.length === "x-api-key".length && name.toLowerCase() === "x-api-key") return value;
  if (name.length === "authorization".length && name.toLowerCase() === "authorization") return bearerOf(value);
  return undefined;
}

function bearerOf(authorization: string): string {
  const [scheme, token, ...rest] = authorization.trim().split(/ +/);
  // Another scheme is a wrong credential, not a missing one.
  return scheme?.toLowerCase() === "bearer" && token && rest.length === 0 ? token : "";
}
