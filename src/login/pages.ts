/** `GET /login`: the sign-in page with the list of sessions. It loads only files of this server. */
import type { FastifyInstance } from "fastify";
import { readFileSync } from "node:fs";
import { pageHeaders } from "../platform/http/response/page-headers.ts";

const FILES = [
  ["", "index.html", "text/html"],
  ["/login.js", "login.js", "text/javascript"],
  ["/login.css", "login.css", "text/css"],
] as const;

type LoginPageOptions = {
  /** The path to open after sign-in if none is asked for. Undefined: the page itself shows the account. */
  readonly home: string | undefined;
};

export function registerLoginPages(app: FastifyInstance, { home }: LoginPageOptions): void {
  for (const [path, file, type] of FILES) {
    const source = readFileSync(new URL(`page/${file}`, import.meta.url), "utf8");
    const text =
      home === undefined ? source : source.replace('<html lang="en">', `<html lang="en" data-home="${home}">`);
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
