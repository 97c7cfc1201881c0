/** `GET /login`: the sign-in page with the list of sessions. It loads only files of this server. */
import type { FastifyInstance } from "fastify";
import { readFileSync } from "node:fs";
import { pageHeaders } from "../platform/http/response/page-headers.ts";

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
        reply.headers(LOGIN_HEADERS).header("content-type", `${type}; charset=utf-8`).send(text),
      );
  }
}

/** Headers of the sign-in page, its files, and redirects to it. */
export const LOGIN_HEADERS = {
  ...pageHeaders(),
  "x-frame-options": "DENY",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-cache",
} as const;
