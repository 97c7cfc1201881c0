/**
 * `GET /graphql-explorer`: a page to read the schema and try operations. It is public, because it contains no data:
 * its user is signed in or enters an API key, which the page keeps in memory. It loads only files of this server.
 */
import type { FastifyInstance } from "fastify";
import { readFileSync } from "node:fs";
import { pageHeaders } from "../http/response/page-headers.ts";

const HEADERS = { ...pageHeaders(), "cache-control": "no-cache" };

const FILES = [
  ["", "index.html", "text/html"],
  ["/explorer.js", "explorer.js", "text/javascript"],
  ["/docs.js", "docs.js", "text/javascript"],
  ["/samples.js", "samples.js", "text/javascript"],
  ["/explorer.css", "explorer.css", "text/css"],
] as const;

export function addExplorer(app: FastifyInstance): void {
  for (const [path, file, type] of FILES) {
    const text = readFileSync(new URL(`explorer/${file}`, import.meta.url), "utf8");
    for (const prefix of ["", "/gateway"])
      app.get(`${prefix}/graphql-explorer${path}`, { exposeHeadRoute: true }, (_request, reply) =>
        reply.headers(HEADERS).header("content-type", `${type}; charset=utf-8`).send(text),
      );
  }
}
