/**
 * Serves the description of the API: `/openapi.json`, and `/api-docs` to read and try it. Both are public: the
 * document contains nothing of any account, and the page keeps the API key that a user enters. Files are read at the
 * first request, because most servers never serve them and loading the page's plugin slows down every start.
 */
import type { FastifyInstance } from "fastify";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { pageHeaders } from "./page-headers.ts";
import { keepFile } from "./static-files.ts";

const DOCUMENT = fileURLToPath(new URL("../../../../api/openapi.json", import.meta.url));
const INTERFACE = new URL("./static/", import.meta.resolve("@fastify/swagger-ui/package.json"));
/** The page needs inline style attributes. */
const HEADERS = pageHeaders({
  "font-src": "'self' data:",
  "img-src": "'self' data:",
  "style-src": "'self' 'unsafe-inline'",
});

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Railhead API</title>
<link rel="stylesheet" href="/api-docs/swagger-ui.css">
<link rel="icon" type="image/png" href="/api-docs/favicon-32x32.png">
</head>
<body>
<main id="api"></main>
<script src="/api-docs/swagger-ui-bundle.js"></script>
<script src="/api-docs/start.js"></script>
</body>
</html>
`;

/** Without an API key, requests use the session of the signed-in user and need its anti-forgery token. */
const START = `const isCredential = (name) => ["x-api-key", "authorization"].includes(name.toLowerCase());

async function withSession(request) {
  if (new URL(request.url, location.href).origin !== location.origin || request.loadSpec) return request;
  if (Object.keys(request.headers).some(isCredential)) return Object.assign(request, { credentials: "omit" });
  const response = await fetch("/auth/session", { credentials: "same-origin" });
  const { data } = await response.json();
  if (data?.signedIn) request.headers["x-csrf-token"] = data.csrfToken;
  return Object.assign(request, { credentials: "same-origin" });
}

SwaggerUIBundle({
  dom_id: "#api",
  url: "/openapi.json",
  deepLinking: true,
  docExpansion: "none",
  filter: true,
  tagsSorter: "alpha",
  persistAuthorization: false,
  validatorUrl: null,
  requestInterceptor: withSession,
});
`;

const PARTS = [
  ["swagger-ui.css", "text/css; charset=utf-8"],
  ["swagger-ui-bundle.js", "text/javascript; charset=utf-8"],
  ["favicon-32x32.png", "image/png"],
] as const;

/** Adds its addresses outside of `Http.add`: they are in no list of routes. */
export function addApiDocs(app: FastifyInstance): void {
  const serve = (urls: readonly string[], type: string, read: () => Promise<Buffer>): void => {
    const file = keepFile(read);
    for (const url of urls)
      app.get(url, { exposeHeadRoute: true }, async (request, reply) => {
        const { status, headers, body } = await file(request.headers);
        return reply
          .headers({ ...HEADERS, "content-type": type, ...headers })
          .code(status)
          .send(body);
      });
  };
  serve(["/openapi.json", "/gateway/openapi.json"], "application/json; charset=utf-8", () => readFile(DOCUMENT));
  serve(["/api-docs", "/api-docs/"], "text/html; charset=utf-8", async () => Buffer.from(PAGE));
  serve(["/api-docs/start.js"], "text/javascript; charset=utf-8", async () => Buffer.from(START));
  for (const [name, type] of PARTS) serve([`/api-docs/${name}`], type, () => readFile(new URL(name, INTERFACE)));
}
