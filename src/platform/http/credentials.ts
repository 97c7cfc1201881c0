/** Where a request carries its credential: `x-api-key`, or `authorization: Bearer`. Nowhere else in the headers. */
import type { IncomingHttpHeaders } from "node:http";
import { problem } from "./problems.ts";

/**
 * The token of a request's headers; undefined when there is none.
 * Two that disagree are refused: whoever sends both must not depend on which one wins.
 */
export function credentialOf(headers: IncomingHttpHeaders): string | undefined {
  const key = headers["x-api-key"];
  const bearer = bearerOf(headers.authorization);
  if (Array.isArray(key)) throw problem("http.two_credentials");
  if (key !== undefined && bearer !== undefined && key !== bearer) throw problem("http.two_credentials");
  return key ?? bearer;
}

function bearerOf(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  const [scheme, token, ...rest] = authorization.trim().split(/ +/);
  // Another scheme is a credential that is wrong, not a missing one.
  return scheme?.toLowerCase() === "bearer" && token && rest.length === 0 ? token : "";
}
