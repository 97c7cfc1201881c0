/** POST /api/graphql and /api/graphql-api, with and without `/gateway` (spec.md, "GraphQL endpoint"). */
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { GraphQLSchema } from "graphql";
import type { Actor } from "../../core/actor.ts";
import { credentialOf } from "../http/credentials.ts";
import { problem as httpProblem } from "../http/problems.ts";
import type { Body } from "../http/routes.ts";
import { actorOf, checkAccount, toProblem, type HttpDeps } from "../http/server.ts";
import { makeDocuments } from "./documents.ts";
import { formatGraphqlError } from "./errors.ts";
import { checkFormLength, MAX_GRAPHQL_BODY, readFormRequest, readJsonRequest, type GraphqlRequest } from "./request.ts";

export const GRAPHQL_PATHS = [
  "/gateway/api/graphql",
  "/api/graphql",
  "/gateway/api/graphql-api",
  "/api/graphql-api",
] as const;

export function addGraphql(app: FastifyInstance, schema: GraphQLSchema, deps: HttpDeps): void {
  const documents = makeDocuments(schema);
  for (const url of GRAPHQL_PATHS) {
    app.route({
      method: "POST",
      url,
      bodyLimit: MAX_GRAPHQL_BODY,
      // A credential in the headers is checked before the body is read; only a form may bring its own.
      onRequest: async (request) => {
        request.errorFamily = "resource";
        if (credentialOf(request.raw) !== undefined || !isForm(request))
          request.actor = await actorOf(deps, credentialOf(request.raw));
        if (isForm(request)) checkFormLength(request.headers);
      },
      handler: async (request, reply) => {
        const { actor, asked } = await read(deps, request).catch((error: unknown) => {
          // The rest of a form that is refused is not waited for.
          if (!request.raw.complete) reply.header("connection", "close");
          throw error;
        });
        checkAccount("accountId", request, actor);
        const prepared = documents.prepare(asked.query, asked.operationName);
        const result =
          "errors" in prepared ? { errors: prepared.errors } : await prepared.run({ actor }, asked.variables);
        const answer = result.errors
          ? {
              ...result,
              errors: result.errors.map((error) =>
                formatGraphqlError(error, (cause) => toProblem(deps, cause, request.id)),
              ),
            }
          : result;
        return reply.header("content-type", "application/json; charset=utf-8").send(JSON.stringify(answer));
      },
    });
  }
}

const isForm = (request: FastifyRequest): boolean =>
  (request.headers["content-type"] ?? "").toLowerCase().startsWith("multipart/form-data");

async function read(deps: HttpDeps, request: FastifyRequest): Promise<{ actor: Actor; asked: GraphqlRequest }> {
  if (!isForm(request)) {
    const { contentType, bytes } = (request.body as Body | undefined) ?? { contentType: "", bytes: Buffer.alloc(0) };
    if (contentType !== "application/json") throw httpProblem("http.bad_content_type", [contentType]);
    return { actor: request.actor ?? (await actorOf(deps, undefined)), asked: readJsonRequest(bytes) };
  }
  const form = await readFormRequest(request);
  const header = credentialOf(request.raw);
  if (header !== undefined && form.credential !== undefined && header !== form.credential)
    throw httpProblem("http.two_credentials");
  return { actor: request.actor ?? (await actorOf(deps, form.credential)), asked: form.request };
}
