/** Which pages may use a session: those of this server. */
import type { IncomingHttpHeaders } from "node:http";
import { problem } from "./problems.ts";

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

/** The origins of the server: that of its public address, and its other names where that is this very machine. */
export function ownOrigins(publicUrl: string): readonly string[] {
  const url = URL.parse(publicUrl);
  if (!url) return [];
  if (!LOOPBACK.includes(url.hostname)) return [url.origin];
  return LOOPBACK.map((host) => `${url.protocol}//${host}${url.port === "" ? "" : `:${url.port}`}`);
}

/** Throws `login.other_origin` when a browser says that the request comes from elsewhere. */
export function checkOrigin(headers: IncomingHttpHeaders, publicUrl: string): void {
  const { origin } = headers;
  if (origin !== undefined && !ownOrigins(publicUrl).includes(origin)) throw problem("login.other_origin");
  // Browsers say it also where they send no origin; what is typed or bookmarked is "none".
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && site !== "none") throw problem("login.other_origin");
}
