/**
 * The HTTP server. Life of a request: correlation id → route → credential (from
 * the headers, before any body is read) → query → account → body, bounded →
 * handler → answer. Errors leave through one place.
 */
import cors from "@fastify/cors";
import websocket from "@fastify/websocket";
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { randomUUID } from "node:crypto";
import type { Actor } from "../../core/actor.ts";
import { toWire } from "../../core/ids.ts";
import { Problem } from "../../core/problem.ts";
import type { NoteRefused } from "../../core/refused.ts";
import { partLog, type Log } from "../log/log.ts";
import { callerOf, type CallerDeps } from "./callers.ts";
import { CONTENT_TYPES, errorBody, type ErrorFamily } from "./envelope.ts";
import { factsOf } from "./facts.ts";
import type { FormRooms } from "./form.ts";
export { makeFormRooms } from "./form.ts";
import { knowPaths, MAX_PARAMETER } from "./methods.ts";
import { answerNotHttp, familyNear, faultOfHead } from "./not-http.ts";
import { problem } from "./problems.ts";
import { mediaType, readBodiesAsBytes } from "./read-bytes.ts";
import { refusedBy } from "./refusals.ts";
import { noForm, withForm } from "./request-form.ts";
import {
  methodsOf,
  type Answer,
  type Body,
  type Call,
  type PrivateRoute,
  type PublicCall,
  type Route,
} from "./routes.ts";
import { endStreamsFirst, send, type Watch } from "./send.ts";

/** The problem of a database that cannot answer now; undefined for any other error. */
export type ExplainError = (error: unknown) => Problem | undefined;

export type HttpDeps = CallerDeps & {
  readonly log: Log;
  /** What is open ends with the credential that it was opened with. */
  readonly watch: Watch;
  readonly explain: ExplainError;
  /** Told of each attempt that is refused. */
  readonly refused?: NoteRefused;
  readonly forms: FormRooms;
  /** Bytes of one WebSocket frame at most. */
  readonly maxFrame: number;
  /** Aborted when the server begins to stop: streams end, new requests are refused. */
  readonly stopping: AbortSignal;
};

export type Http = {
  readonly app: FastifyInstance;
  readonly add: (routes: readonly Route[]) => void;
  readonly routes: () => readonly Route[];
};

declare module "fastify" {
  interface FastifyRequest {
    errorFamily: ErrorFamily;
    /** Of the route; "" where none is known yet. */
    operation: string;
    actor: Actor | undefined;
  }
}

const TIMEOUTS_MS = { request: 60_000, headers: 10_000 } as const;
const EXPOSED_HEADERS = ["etag", "retry-after", "content-disposition", "allow"];
/** For so long a browser need not ask again. */
const PREFLIGHT_SECONDS = 600;
const NO_BYTES = Buffer.alloc(0);

export async function makeHttp(deps: HttpDeps): Promise<Http> {
  const served: Route[] = [];
  const refuseAddress = (request: FastifyRequest, reply: FastifyReply, reason: Problem): void => {
    request.errorFamily = familyNear(served, request.url);
    sendProblem(deps, reason, request, reply);
  };
  const app = Fastify({
    loggerInstance: childless(partLog(deps.log, "http", "warn")),
    genReqId: () => randomUUID(),
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: MAX_PARAMETER },
    requestTimeout: TIMEOUTS_MS.request,
    http: { headersTimeout: TIMEOUTS_MS.headers, requireHostHeader: false },
    forceCloseConnections: true,
    // Addresses that no route is looked for: without this they would be answered outside the envelope.
    frameworkErrors: (error, request, reply) =>
      refuseAddress(request, reply, error.code === "FST_ERR_BAD_URL" ? problem("http.bad_url") : noRoute(request)),
    clientErrorHandler: answerNotHttp,
  }) as unknown as FastifyInstance;
  app.decorateRequest("errorFamily", "rest");
  app.decorateRequest("operation", "");
  app.decorateRequest("actor", undefined);
  readBodiesAsBytes(app);
  endStreamsFirst(app);
  const pathAt = knowPaths(app);
  // Before the plugins: their routes keep the handler that stands when they are made.
  app.setErrorHandler((error: FastifyError, request, reply) => sendProblem(deps, error, request, reply));
  // Hooks for every request call back instead of making a promise each.
  app.addHook("onRequest", ({ raw }, _reply, done) => done(faultOfHead(raw)));
  await app.register(cors, {
    origin: "*",
    credentials: false,
    methods: ["GET", "POST", "PUT", "PATCH", "DELETE"],
    allowedHeaders: ["x-api-key", "authorization", "content-type", "last-event-id", "if-match", "if-none-match"],
    // What a page needs to see beside the body: the version, when to try again, how a download is called, which methods there are.
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: PREFLIGHT_SECONDS,
  });
  await app.register(websocket, { options: { maxPayload: deps.maxFrame } });
  app.setNotFoundHandler((request, reply) => {
    const known = pathAt(request.url);
    if (!known) return refuseAddress(request, reply, noRoute(request));
    request.errorFamily = known.errors;
    const allowed = [...known.methods, "OPTIONS"].join(", ");
    sendProblem(deps, problem("http.no_method", [request.method, allowed]), request, reply.header("allow", allowed));
  });
  app.addHook("onRequest", ({ url }, _reply, done) => {
    const refused = deps.stopping.aborted && !url.startsWith("/health/");
    done(refused ? problem("http.stopping", [], { retryAfter: 5 }) : undefined);
  });

  return {
    app,
    add(routes) {
      for (const route of routes) {
        served.push(route);
        for (const url of [route.path, `/gateway${route.path}`]) serve(app, deps, route, url);
      }
    },
    routes: () => served,
  };
}

/**
 * Fastify makes a child of its logger for each request. We log with the correlation id ourselves, and making one took
 * longer than finding the route; a factory of ours would have its logger checked anew each time.
 */
function childless<L extends Log>(log: L): L {
  const same: L = Object.create(log, { child: { value: () => same } }) as L;
  return same;
}

const noRoute = (request: Pick<FastifyRequest, "method" | "url">): Problem =>
  problem("http.no_route", [request.method, request.url.split("?")[0] ?? ""]);

function serve(app: FastifyInstance, deps: HttpDeps, route: Route, url: string): void {
  app.route({
    method: methodsOf(route),
    url,
    config: { errors: route.errors },
    bodyLimit: route.maxBody,
    onRequest: async (request) => {
      request.errorFamily = route.errors;
      request.operation = route.operation;
      if ("permission" in route.access) request.actor = await callerOf(depsOf(route, deps, request), request);
    },
    handler: async (request, reply) => {
      const run = (form: Call["form"]): Promise<Answer> => {
        const shared = sharedCall(route, request, form);
        return "account" in route ? route.handle(privateCall(route.account, request, shared)) : route.handle(shared);
      };
      const { form } = route;
      return send(
        deps,
        await (form ? withForm({ ...deps.forms, texts: form }, request, reply, run) : run(noForm)),
        reply,
      );
    },
  });
}

/** A route may know credentials of its own. */
function depsOf(route: Route, deps: HttpDeps, request: FastifyRequest): HttpDeps {
  const known = "authenticate" in route ? route.authenticate : undefined;
  if (!known) return deps;
  const { accountId = "" } = request.params as Record<string, string>;
  return { ...deps, authenticate: (token) => known(token, accountId), sessionOf: async () => undefined };
}

function sharedCall(route: Route, request: FastifyRequest, form: Call["form"]): PublicCall {
  const given = request.query as Record<string, unknown>;
  const parsed = route.query.safeParse(given);
  refuseTwice(given, parsed.success ? parsed.data : listsIn(parsed.error.issues));
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const message = issue?.message ?? "is wrong";
    // Our own messages go on from the name; those of the library are sentences.
    const between = /^[a-z]/.test(message) ? " " : ": ";
    throw problem("http.bad_query", [`${issue?.path.join(".") ?? ""}${between}${message}.`]);
  }
  return {
    query: parsed.data,
    params: request.params as Record<string, string>,
    headers: request.headers,
    form,
    // A form has not been read yet.
    body: (request.body as Body | undefined) ?? { contentType: mediaType(request), charset: "", bytes: NO_BYTES },
    correlationId: request.id,
    facts: factsOf(request),
  };
}

/** Parameters that may be given several times, known by a fault that lies in one of the values. */
const listsIn = (issues: readonly { readonly path: readonly PropertyKey[] }[]): Record<string, unknown> =>
  Object.fromEntries(issues.filter(({ path }) => path.length > 1).map(({ path }) => [String(path[0]), []]));

/** A parameter that is given twice where no list is taken: which of them counts, a gateway before us may have decided otherwise. */
function refuseTwice(query: Record<string, unknown>, taken: unknown = {}): void {
  const isList = (name: string): boolean => Array.isArray((taken as Record<string, unknown>)[name]);
  const twice = Object.entries(query).find(([name, value]) => typeof value !== "string" && !isList(name));
  if (twice) throw problem("http.bad_query", [`${twice[0].slice(0, 80)} is given twice.`]);
}

function privateCall(parameter: PrivateRoute["account"], request: FastifyRequest, shared: PublicCall): Call {
  const actor = request.actor;
  if (!actor) throw problem("http.no_credential");
  if (parameter === "path") checkPathAccount(actor, shared);
  else checkAccount(parameter, request, actor, shared.query);
  return { ...shared, actor, accountId: actor.accountId };
}

/**
 * The account in the query has to be the credential's. Another one and one that
 * does not exist are refused with the same answer (law 7).
 */
export function checkAccount(parameter: string, request: FastifyRequest, actor: Actor, taken: unknown = {}): void {
  const query = request.query as Record<string, unknown>;
  const given = query[parameter] ?? query["routingId"];
  if (given === undefined || given === "") throw problem("http.bad_query", [`${parameter} is required.`]);
  refuseTwice(query, taken);
  if (query["routingId"] !== undefined && query["routingId"] !== given)
    throw problem("http.bad_query", [`routingId is another account than ${parameter}.`]);
  if (given !== toWire(actor.accountId)) throw problem("http.not_yours");
}

/** The same for an account that stands in the path. */
function checkPathAccount(actor: Actor, { params }: PublicCall): void {
  if (params["accountId"] !== toWire(actor.accountId)) throw problem("http.not_yours");
}

/** The one place where errors leave: a Problem as it is, anything else as 500 with the cause in the log; of a refusal its reason, in one line. */
export function toProblem(deps: Pick<HttpDeps, "log" | "explain">, error: unknown, correlationId: string): Problem {
  const known = error instanceof Problem ? error : (deps.explain(error) ?? fromFastify(error));
  if (known) {
    const { status, cause } = known;
    const why = status >= 500 ? { err: cause ?? known } : { why: cause instanceof Error ? cause.message : "" };
    if (status >= 500 || cause !== undefined) deps.log.warn({ code: known.code, ...why, correlationId }, known.message);
    return known;
  }
  deps.log.error({ err: error, correlationId }, "unexpected error");
  return problem("http.unexpected", [correlationId], { cause: error });
}

function sendProblem(deps: HttpDeps, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  // Whoever sent half a body is gone: nobody reads the answer, and nothing here has failed.
  const failed = isGone(request)
    ? problem("http.aborted")
    : (unknownType(error, request) ?? toProblem(deps, error, request.id));
  noteRefusal(deps, failed, request, request.operation);
  if (failed.status === 401 && request.errorFamily === "scim") reply.header("www-authenticate", "Bearer");
  if (failed.retryAfter !== undefined) reply.header("retry-after", String(failed.retryAfter));
  return reply
    .code(failed.status)
    .header("content-type", CONTENT_TYPES[request.errorFamily])
    .send(JSON.stringify(errorBody(failed, request.errorFamily, request.id)));
}

/** Tells the trail, if this was a refusal. `operation` is the route's, or the field's. */
export function noteRefusal(
  { refused }: Pick<HttpDeps, "refused">,
  failed: Problem,
  request: FastifyRequest,
  operation: string,
): void {
  const attempt =
    refused && refusedBy(failed, request, { operation: operation || "http.request", actor: request.actor });
  if (attempt) refused(attempt);
}

/** The sender has closed the connection before the request was whole. */
const isGone = ({ raw }: FastifyRequest): boolean => raw.destroyed && !raw.complete;

/** A content type that is none, as it was sent. */
function unknownType(error: unknown, { headers }: FastifyRequest): Problem | undefined {
  if ((error as Partial<FastifyError>).code !== "FST_ERR_CTP_INVALID_MEDIA_TYPE") return undefined;
  return problem("http.bad_content_type", [(headers["content-type"] ?? "").slice(0, 80)]);
}

function fromFastify(error: unknown): Problem | undefined {
  const { code, statusCode, message } = error as Partial<FastifyError>;
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE" || code === "FST_REQ_FILE_TOO_LARGE")
    return problem("http.bad_body", ["The request body is larger than this operation takes."]);
  if (typeof statusCode === "number" && statusCode >= 400 && statusCode < 500)
    return problem("http.bad_body", [message ?? "The request is malformed."]);
  return undefined;
}
