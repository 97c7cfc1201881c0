/**
 * The interface's own description: `/openapi.json`, and `/api-docs` to read it and try it. Both are public: the
 * document is the same for everybody, and the page keeps the key that is typed into it.
 */
import swagger from "@fastify/swagger";
import swaggerUi from "@fastify/swagger-ui";
import type { FastifyInstance } from "fastify";
import { readFileSync } from "node:fs";

type StaticDocument = swagger.StaticDocumentSpec["document"];

const PREFIX = "/api-docs";
const DOCUMENT = new URL("../../../api/openapi.json", import.meta.url);
/** Everything from this server alone; the interface writes style attributes. */
const POLICY =
  "default-src 'none'; connect-src 'self'; font-src 'self' data:; frame-ancestors 'none'; img-src 'self' data:; script-src 'self'; style-src 'self' 'unsafe-inline'; base-uri 'none'; form-action 'none'";

export async function addApiDocs(app: FastifyInstance): Promise<void> {
  const text = readFileSync(DOCUMENT, "utf8");
  for (const url of ["/openapi.json", "/gateway/openapi.json"])
    app.get(url, async (_request, reply) => reply.header("content-type", "application/json; charset=utf-8").send(text));
  await app.register(swagger, { mode: "static", specification: { document: JSON.parse(text) as StaticDocument } });
  await app.register(swaggerUi, {
    routePrefix: PREFIX,
    staticCSP: POLICY,
    theme: { title: "Railhead API" },
    uiConfig: { deepLinking: true, persistAuthorization: false, validatorUrl: null, docExpansion: "list" },
  });
}
