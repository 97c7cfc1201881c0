/** Pages that may use a session: those of this server. */
import type { IncomingHttpHeaders } from "node:http";
import { problem } from "../problems.ts";

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

/** The origins of the server: that of its public address, and all names of the loopback address if it is one. */
export function ownOrigins(publicUrl: string): readonly string[] {
  const url = URL.parse(publicUrl);
  if (!url) return [];
  if (!LOOPBACK.includes(url.hostname)) return [url.origin];
  return LOOPBACK.map((host) => `${url.protocol}//${host}${url.port === "" ? "" : `:${url.port}`}`);
}

/** False if the browser's headers show that a page of another origin sent the request. */
export function isOwnOrigin(headers: IncomingHttpHeaders, publicUrl: string): boolean {
  const { origin } = headers;
  if (origin !== undefined && !ownOrigins(publicUrl).includes(origin)) return false;
  // Browsers send it even without an origin. It is "none" for a typed or bookmarked address.
  const site = headers["sec-fetch-site"];
  return site === undefined || site === "same-origin" || site === "none";
}

const DOWNLOADS: ReadonlySet<unknown> = new Set(["document", "empty"]);

/**
 * Whether the browser says that a link on a page of the same origin was followed to save or open its target: no script
 * reads the answer, and no frame or image shows it. Scripts cannot set these headers, and no other site can send
 * `same-origin`. Browsers without them send the anti-forgery token instead.
 */
export const isOwnLink = (headers: IncomingHttpHeaders): boolean =>
  headers["sec-fetch-site"] === "same-origin" &&
  headers["sec-fetch-mode"] === "navigate" &&
  DOWNLOADS.has(headers["sec-fetch-dest"]);

/** Throws `login.other_origin` if the browser's headers show that a page of another origin sent the request. */
export function checkOrigin(headers: IncomingHttpHeaders, publicUrl: string): void {
  if (!isOwnOrigin(headers, publicUrl)) throw problem("login.other_origin");
}
