/** POST /api/graphql and /api/graphql-api, with and without `/gateway` (spec.md, "GraphQL endpoint"). */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ExecutionResult, GraphQLSchema } from "graphql";
import type { Actor } from "../../core/actor.ts";
import { actorOf, callerOf } from "../http/callers.ts";
import { credentialOf } from "../http/credentials.ts";
import { problem as httpProblem } from "../http/problems.ts";
import type { Body } from "../http/routes.ts";
import { mediaType } from "../http/read-bytes.ts";
import { checkAccount, noteRefusal, toProblem, type HttpDeps } from "../http/server.ts";
import { makeDocuments } from "./documents.ts";
import { fieldOf, formatGraphqlError } from "./errors.ts";
import { addExplorer } from "./explorer.ts";
import { checkFormLength, readForm } from "./form.ts";
import { isUtf8Type, negotiate, statusOf } from "./media.ts";
import { makeRoom, type UploadedFile } from "./pages.ts";
import { problem } from "./problems.ts";
import { MAX_GRAPHQL_BODY, readJsonRequest, readQueryPart, type GraphqlRequest } from "./request.ts";
import { checkFileIsTaken } from "./uploads.ts";

export const GRAPHQL_PATHS = [
  "/gateway/api/graphql",
  "/api/graphql",
  "/gateway/api/graphql-api",
  "/api/graphql-api",
] as const;

export type GraphqlDeps = HttpDeps & {
  /** Bytes of the file of a form at most. */
  readonly maxFile: number;
};

/** Files of callers that are known, and of those whose credential comes in the form itself, held at a time. */
const FILES_OF_CALLERS = 8;
const FILES_OF_STRANGERS = 2;
/** What of a refused form is read and forgotten, so that its sender gets to see the answer: bytes, and how long. */
const MAX_DISCARDED = 1024 * 1024;
const MAX_DISCARDING_MS = 500;

type Asked = {
  readonly actor: Actor;
  readonly request: GraphqlRequest;
  readonly file?: UploadedFile | undefined;
  readonly release?: () => void;
};

export function addGraphql(app: FastifyInstance, schema: GraphQLSchema, deps: GraphqlDeps): void {
  const documents = makeDocuments(schema);
  const readForms = makeFormReader(deps);
  addExplorer(app);

  function answer({ actor, request: asked, file }: Asked): ExecutionResult | Promise<ExecutionResult> {
    const prepared = documents.prepare(asked.query, asked.operationName, asked.variables);
    if ("errors" in prepared) return prepared;
    if (file) checkFileIsTaken(schema, prepared.document, asked.operationName, asked.variables);
    return prepared.run({ actor, file }, asked.variables);
  }

  for (const url of GRAPHQL_PATHS) {
    app.route({
      method: ["GET", "HEAD", "PUT", "DELETE", "PATCH"],
      url,
      onRequest: async (request, reply) => {
        request.errorFamily = "resource";
        reply.header("allow", "POST, OPTIONS");
        throw problem("graphql.only_post", [request.method]);
      },
      handler: () => undefined,
    });
    app.route({
      method: "POST",
      url,
      bodyLimit: MAX_GRAPHQL_BODY,
      // A credential in the headers is checked before the body is read; only a form may bring its own.
      onRequest: async (request) => {
        request.errorFamily = "resource";
        request.operation = "graphql.run";
        // A form is what any page can send without being asked: a session is no credential for one.
        if (!isForm(request)) request.actor = await callerOf(deps, request);
        else if (credentialOf(request.raw) !== undefined)
          request.actor = await actorOf(deps, credentialOf(request.raw), request);
        if (request.actor) {
          checkAccount("accountId", request, request.actor);
        }
        negotiate(request.headers.accept);
        if (isForm(request)) checkFormLength(request.headers["content-length"], deps.maxFile);
      },
      handler: async (request, reply) => {
        const asked = isForm(request) ? await readForms(request, reply) : readJson(request);
        let result: ExecutionResult;
        try {
          result = await answer(asked);
        } finally {
          asked.release?.();
        }
        const errors = result.errors?.map((error) =>
          formatGraphqlError(error, (cause) => {
            const failed = toProblem(deps, cause, request.id);
            noteRefusal(deps, failed, request, `graphql.${fieldOf(error)}`);
            return failed;
          }),
        );
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

/** Whose request it is was found out from the headers, before the body came. */
function readJson(request: FastifyRequest): Asked {
  const { actor } = request;
  if (!actor) throw httpProblem("http.no_credential");
  const { contentType, bytes } = (request.body as Body | undefined) ?? { contentType: "", bytes: Buffer.alloc(0) };
  const type = request.headers["content-type"] ?? "";
  if (contentType !== "application/json" || !isUtf8Type(type)) throw httpProblem("http.bad_content_type", [type]);
  return { actor, request: readJsonRequest(bytes) };
}

function makeFormReader(deps: GraphqlDeps): (request: FastifyRequest, reply: FastifyReply) => Promise<Asked> {
  const { maxFile } = deps;
  const callers = makeRoom(FILES_OF_CALLERS, maxFile);
  const strangers = makeRoom(FILES_OF_STRANGERS, maxFile);

  async function read(request: FastifyRequest): Promise<Asked> {
    const form = await readForm(request.raw, { maxFile, room: request.actor ? callers : strangers });
    try {
      const header = credentialOf(request.raw);
      if (header !== undefined && form.credential !== undefined && header !== form.credential)
        throw httpProblem("http.two_credentials");
      const actor = (request.actor ??= await actorOf(deps, form.credential, request));
      if (form.query === undefined) throw problem("graphql.no_query");
      const asked = readQueryPart(form.query);
      checkAccount("accountId", request, actor);
      return { actor, request: asked, file: form.file, release: form.release };
    } catch (error) {
      form.release();
      throw error;
    }
  }

  return async (request, reply) => {
    try {
      return await read(request);
    } catch (error) {
      if (await hasMore(request)) reply.header("connection", "close");
      throw error;
    }
  };
}

/** Reads and forgets the rest of a refused body; true when there is more than is worth reading. */
function hasMore({ raw }: FastifyRequest): Promise<boolean> {
  if (raw.complete || raw.destroyed) return Promise.resolve(false);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  let bytes = 0;
  raw.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_DISCARDED) resolve(true);
  });
  raw.on("end", () => resolve(false)).on("close", () => resolve(true));
  // Who waits for the answer before sending on gets it.
  const impatient = setTimeout(resolve, MAX_DISCARDING_MS, true);
  raw.resume();
  return promise.finally(() => clearTimeout(impatient));
}
