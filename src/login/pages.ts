/** `GET /login`: the sign-in page with the list of sessions. It loads only files of this server. */
import type { FastifyInstance } from "fastify";
import { readFileSync } from "node:fs";

/** The script sends the forms. Without it, a form must not put a password into an address. */
const POLICY =
  "default-src 'none'; connect-src 'self'; img-src data:; script-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const FILES = [
  ["", "index.html", "text/html"],
  ["/login.js", "login.js", "text/javascript"],
  ["/login.css", "login.css", "text/css"],
] as const;

export function registerLoginPages(app: FastifyInstance): void {
  for (const [path, file, type] of FILES) {
    const text = readFileSync(new URL(`page/${file}`, import.meta.url), "utf8");
    for (const prefix of ["", "/gateway"])
      app.get(`${prefix}/login${path}`, { exposeHeadRoute: true }, (_request, reply) =>
        reply.headers(GUARDS).header("content-type", `${type}; charset=utf-8`).send(text),
      );
  }
}

/** Headers of every page of this slice: only own files, no frames, no referrer. */
export const GUARDS = {
  "content-security-policy": POLICY,
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-cache",
} as const;
