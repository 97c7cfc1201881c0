/** POST /api/graphql and /api/graphql-api, with and without `/gateway`. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { DocumentNode, ExecutionResult, GraphQLSchema } from "graphql";
import type { Actor } from "../../core/actor.ts";
import { Problem } from "../../core/problem.ts";
import { asCaller } from "../db/pool/budget.ts";
import { authenticateToken, authenticateRequest, reauthenticateRequest } from "../http/callers.ts";
import { credentialOf } from "../http/credentials.ts";
import type { UploadedFile } from "../http/request/file-pages.ts";
import { checkFormLength, readForm } from "../http/request/form.ts";
import { problem as httpProblem } from "../http/problems.ts";
import type { Body } from "../http/routes.ts";
import { mediaType } from "../http/request/read-bytes.ts";
import { checkAccount } from "../http/call.ts";
import { noteRefusal, toProblem } from "../http/response/failures.ts";
import type { HttpDeps } from "../http/server.ts";
import { fitsInto, MAX_ANSWER } from "./response/answer-size.ts";
import { createDocuments } from "./request/documents.ts";
import { fieldOf, formatGraphqlErrors } from "./response/errors.ts";
import { addExplorer } from "./explorer.ts";
import { isUtf8Type, negotiate, statusOf } from "./request/media.ts";
import { problem } from "./problems.ts";
import { MAX_GRAPHQL_BODY, readJsonRequest, readQueryPart, type GraphqlRequest } from "./request/request.ts";
import { checkFileIsTaken } from "./request/uploads.ts";

export const GRAPHQL_PATHS = [
  "/gateway/api/graphql",
  "/api/graphql",
  "/gateway/api/graphql-api",
  "/api/graphql-api",
] as const;

/** Largest texts of a form in bytes. */
const FORM_TEXTS = { query: MAX_GRAPHQL_BODY, "x-api-key": 4 * 1024 };

type Asked = {
  readonly actor: Actor;
  readonly request: GraphqlRequest;
  readonly file?: UploadedFile | undefined;
  readonly release?: () => void;
};

/** Adds the endpoint and the explorer outside of `Http.add`: they are in no list of routes. */
export function addGraphql(app: FastifyInstance, schema: GraphQLSchema, deps: HttpDeps): void {
  const documents = createDocuments(schema);
  const readForms = makeFormReader(deps);
  addExplorer(app);

  /** The result, and the document unless it is not valid. */
  async function answer(
    { actor, request: asked, file }: Asked,
    idempotencyKey: string | readonly string[] | undefined,
  ): Promise<{ readonly result: ExecutionResult; readonly document?: DocumentNode }> {
    const prepared = documents.prepare(asked.query, asked.operationName, asked.variables);
    if ("errors" in prepared) return { result: prepared };
    if (file) checkFileIsTaken(schema, prepared.document, asked.operationName, asked.variables);
    const { document, run } = prepared;
    const execute = () => run({ actor, file, idempotencyKey }, asked.variables);
    return { result: await asCaller(actor, execute, deps.checkBeforeCommit(actor)), document };
  }

  for (const url of GRAPHQL_PATHS) {
    app.route({
      method: "POST",
      url,
      config: { errors: "graphql" },
      bodyLimit: MAX_GRAPHQL_BODY,
      // A credential in the headers is checked before the body is read; only a form may contain its own.
      onRequest: async (request, reply) => {
        request.errorFamily = "graphql";
        request.operation = "graphql.run";
        // Any page can send a form without a preflight request, so a session does not authenticate a form.
        if (!isForm(request)) request.actor = await authenticateRequest(deps, request);
        else if (credentialOf(request.raw) !== undefined) request.actor = await authenticateRequest(deps, request);
        if (request.actor) {
          deps.openAnswers.addRequest(reply);
          checkAccount("accountId", request, request.actor);
        }
        negotiate(request.headers.accept);
        if (isForm(request)) checkFormLength(request.headers["content-length"], FORM_TEXTS, deps.forms.maxFile);
      },
      handler: async (request, reply) => {
        const asked = isForm(request) ? await readForms(request, reply) : await readJson(deps, request);
        let answered: Awaited<ReturnType<typeof answer>>;
        try {
          answered = await answer(asked, request.headers["idempotency-key"]);
        } finally {
          asked.release?.();
        }
        const { result, document } = answered;
        // Covers all errors, also those that the answer omits. Only a Problem is a refusal.
        for (const error of result.errors ?? [])
          if (document && error.originalError instanceof Problem) {
            noteRefusal(deps, error.originalError, request, `graphql.${fieldOf(error, document)}`);
            const { retryAfter } = error.originalError;
            if (retryAfter !== undefined) reply.header("retry-after", String(retryAfter));
          }
        const errors =
          result.errors &&
          formatGraphqlErrors(result.errors, (cause) => toProblem(deps, cause, request.id, request.clientAddress));
        // Runs after the refusals of its fields are recorded.
        if (!fitsInto(result.data)) throw problem("graphql.answer_too_large", [String(MAX_ANSWER / 1024 / 1024)]);
        const type = negotiate(request.headers.accept);
        return reply
          .code(statusOf(type, result.data !== undefined))
          .header("content-type", `${type}; charset=utf-8`)
          .send(JSON.stringify(errors ? { ...result, errors } : result));
      },
    });
  }
}

const isForm = (request: FastifyRequest): boolean => mediaType(request) === "multipart/form-data";

/** The headers authenticated the request before its body arrived. */
async function readJson(deps: HttpDeps, request: FastifyRequest): Promise<Asked> {
  const still = reauthenticateRequest(deps, request);
  const actor = still instanceof Promise ? await still : still;
  const { contentType, bytes } = (request.body as Body | undefined) ?? { contentType: "", bytes: Buffer.alloc(0) };
  const type = request.headers["content-type"] ?? "";
  if (contentType !== "application/json" || !isUtf8Type(type)) throw httpProblem("http.bad_content_type", [type]);
  return { actor, request: readJsonRequest(bytes) };
}

function makeFormReader(deps: HttpDeps): (request: FastifyRequest, reply: FastifyReply) => Promise<Asked> {
  const { maxFile, callers, strangers } = deps.forms;

  return async (request, reply) => {
    const room = request.actor ? callers : strangers;
    const form = await readForm(request, { texts: FORM_TEXTS, maxFile, room });
    try {
      const [header, own, query] = [credentialOf(request.raw), form.text("x-api-key"), form.text("query")];
      if (header !== undefined && own !== undefined && header !== own) throw httpProblem("http.two_credentials");
      const isCounted = request.actor !== undefined;
      const actor = isCounted
        ? await reauthenticateRequest(deps, request)
        : await authenticateToken(deps, own, request);
      request.actor = actor;
      if (!isCounted) deps.openAnswers.addRequest(reply);
      if (query === undefined) throw problem("graphql.no_query");
      const asked = readQueryPart(query);
      checkAccount("accountId", request, actor);
      return { actor, request: asked, file: form.file, release: form.release };
    } catch (error) {
      form.release();
      throw error;
    }
  };
}
