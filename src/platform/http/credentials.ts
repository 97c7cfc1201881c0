/** Where a request carries its credential: `x-api-key`, or `authorization: Bearer`. Nowhere else in the headers. */
import type { IncomingMessage } from "node:http";
import { problem } from "./problems.ts";

/**
 * The token of a request's headers; undefined when there is none.
 * Several that disagree are refused, also within one name (of which Node shows only the first
 * elsewhere): whoever sends them must not depend on which one wins.
 */
export function credentialOf({ headersDistinct }: Pick<IncomingMessage, "headersDistinct">): string | undefined {
  const bearers = (headersDistinct["authorization"] ?? []).map(bearerOf);
  const given = [...(headersDistinct["x-api-key"] ?? []), ...bearers];
  if (given.some((token) => token !== given[0])) throw problem("http.two_credentials");
  return given[0];
}

function bearerOf(authorization: string): string {
  const [scheme, token, ...rest] = authorization.trim().split(/ +/);
  // Another scheme is a credential that is wrong, not a missing one.
  return scheme?.toLowerCase() === "bearer" && token && rest.length === 0 ? token : "";
}
