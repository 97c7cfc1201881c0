/**
 * The HTTP server. Stages of a request: correlation id, route, credential (from the headers, before the body is
 * read), query, account, body with a limit, handler, answer. All errors pass through `failures.ts`.
 */
import cors, { type FastifyCorsOptions } from "@fastify/cors";
import websocket from "@fastify/websocket";
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { randomUUID } from "node:crypto";
import type { Actor } from "../../core/actor.ts";
import type { Problem } from "../../core/problem.ts";
import { asCaller, asUnauthenticated, type BeforeCommit } from "../db/pool/budget.ts";
import { partLog, type Log } from "../log/log.ts";
import { ACCOUNT_HEADER, privateCall, sharedCall } from "./call.ts";
import { boundedServer, type BoundedServerOptions } from "./connection/bounded-server.ts";
import { closeAfter, closeBeforeRest, hasRest } from "./connection/early-answer.ts";
import { addClientAddress, clientAddressBehind } from "./client-address.ts";
import { authenticateRequest, reauthenticateRequest, type CallerDeps } from "./callers.ts";
import type { ErrorFamily } from "./response/envelope.ts";
import { problemText, sendProblem, type FailureDeps } from "./response/failures.ts";
import type { FormRooms } from "./request/form.ts";
import { IGNORED_FIELDS, ignoreFields } from "./request/ignored-fields.ts";
import { knowPaths, MAX_PARAMETER } from "./response/allowed-methods.ts";
import { answerNotHttp, familyNear, faultOfHead } from "./request/parser-errors.ts";
import { problem } from "./problems.ts";
import { readBodiesAsBytes } from "./request/read-bytes.ts";
import { noForm, withForm } from "./request/request-form.ts";
import { methodsOf, type Answer, type Call, type Route } from "./routes.ts";
import { endStreamsFirst, send, type InShare, type SendDeps } from "./response/send.ts";

/** What the server needs of the slices, and its limits. */
export type HttpDeps = CallerDeps &
  FailureDeps &
  SendDeps & {
    /** Begins a request. The result runs before each of its commits and rejects if the actor has lost access. */
    readonly checkBeforeCommit: (actor: Actor) => BeforeCommit;
    readonly forms: FormRooms;
    /** Networks of trusted proxies, which report the client's address. */
    readonly trustedProxies: readonly string[];
    /** Largest WebSocket frame in bytes. */
    readonly maxFrame: number;
  };

export type Http = {
  readonly app: FastifyInstance;
  readonly add: (routes: readonly Route[]) => void;
  readonly routes: () => readonly Route[];
};

declare module "fastify" {
  interface FastifyRequest {
    errorFamily: ErrorFamily;
    /** Operation of the route; "" before the route is known. */
    operation: string;
    actor: Actor | undefined;
    /** Time of the authentication. */
    askedAt: number;
  }
}

const TIMEOUTS_MS = { request: 60_000, headers: 10_000 } as const;
/** Headers of an answer that do not hold for a refusal in its place. */
const OF_CONTENT = ["content-disposition", "content-encoding", "etag", "location"] as const;
const CORS: FastifyCorsOptions = {
  origin: "*",
  credentials: false,
  methods: ["GET", "POST", "PUT", "PATCH", "DELETE"],
  allowedHeaders: [
    "x-api-key",
    "authorization",
    "content-type",
    "last-event-id",
    "if-match",
    "if-none-match",
    "idempotency-key",
    ACCOUNT_HEADER,
  ],
  // Headers that pages may read: the version, the time of a retry, the name of a download, allowed methods, ignored
  // fields.
  exposedHeaders: [
    ...["etag", "retry-after", "content-disposition", "allow", IGNORED_FIELDS],
    ...["x-total-elements", "x-page-number", "x-page-size"],
  ],
  // A browser caches a preflight answer for this time.
  maxAge: 600,
};

type RefuseAddress = (request: FastifyRequest, reply: FastifyReply, reason: Problem) => void;

/** Returns the server before it listens; routes can be added only until then. */
export async function createHttp(deps: HttpDeps): Promise<Http> {
  const served: Route[] = [];
  const refuseAddress: RefuseAddress = (request, reply, reason) => {
    request.errorFamily = familyNear(served, request.url);
    sendProblem(deps, reason, request, reply);
  };
  const addressOf = clientAddressBehind(deps.trustedProxies);
  const webSockets = new Set<string>();
  const app = createApp(deps.log, refuseAddress, { addressOf, hasWebSocket: (path) => webSockets.has(path) });
  app.addHook("onRoute", ({ url, wsHandler }) => void (wsHandler && webSockets.add(url)));
  addClientAddress(app, addressOf);
  decorateRequests(app);
  readBodiesAsBytes(app);
  endStreamsFirst(app);
  const pathAt = knowPaths(app);
  // Registered before the plugins: a route keeps the error handler that exists when it is added.
  app.setErrorHandler((error: FastifyError, request, reply) => sendProblem(deps, error, request, reply));
  // Hooks of every request use callbacks, because promises would cost more.
  app.addHook("onRequest", ({ raw }, _reply, done) => done(faultOfHead(raw)));
  await app.register(cors, CORS);
  await app.register(websocket, { options: { maxPayload: deps.maxFrame } });
  refuseWhileStopping(app, deps.stopping);
  refuseUnknown(app, (request, reply) => {
    const known = pathAt(request.url);
    if (!known) return refuseAddress(request, reply, noRoute(request));
    request.errorFamily = known.errors;
    const allowed = [...known.methods, "OPTIONS"].join(", ");
    sendProblem(deps, problem("http.no_method", [request.method, allowed]), request, reply.header("allow", allowed));
  });
  closeBeforeRest(app);
  boundWholeAnswers(app, deps);

  return {
    app,
    add(routes) {
      for (const route of routes) {
        served.push(route);
        for (const path of [route.path, ...(route.trailingSlash ? [`${route.path}/`] : [])])
          for (const url of [path, `/gateway${path}`]) serve(app, deps, route, url);
      }
    },
    routes: () => served,
  };
}

const createApp = (log: Log, refuseAddress: RefuseAddress, bounds: BoundedServerOptions): FastifyInstance =>
  Fastify({
    loggerInstance: childless(partLog(log, "http", "warn")),
    genReqId: () => randomUUID(),
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: MAX_PARAMETER },
    requestTimeout: TIMEOUTS_MS.request,
    http: { headersTimeout: TIMEOUTS_MS.headers, requireHostHeader: false },
    forceCloseConnections: true,
    serverFactory: boundedServer(bounds),
    // The router rejects some addresses before it looks for a route. Without this option their answers would lack the
    // envelope.
    frameworkErrors: (error, request, reply) => {
      // No hook runs for it.
      if (hasRest(request)) closeAfter(request, reply);
      refuseAddress(request, reply, error.code === "FST_ERR_BAD_URL" ? problem("http.bad_url") : noRoute(request));
    },
    clientErrorHandler: answerNotHttp,
  }) as unknown as FastifyInstance;

function decorateRequests(app: FastifyInstance): void {
  app.decorateRequest("errorFamily", "rest");
  app.decorateRequest("operation", "");
  app.decorateRequest("actor", undefined);
  app.decorateRequest("callerKey", undefined);
  app.decorateRequest("askedAt", 0);
}

function refuseWhileStopping(app: FastifyInstance, stopping: AbortSignal): void {
  app.addHook("onRequest", ({ url }, _reply, done) => {
    const refused = stopping.aborted && !url.startsWith("/health/");
    done(refused ? problem("http.stopping", [], { retryAfter: 5 }) : undefined);
  });
}

/** Refuses requests without a route before their bodies are read. */
function refuseUnknown(app: FastifyInstance, refuse: (request: FastifyRequest, reply: FastifyReply) => void): void {
  app.addHook("onRequest", (request, reply, done) => {
    if (request.is404) refuse(request, reply);
    else done();
  });
}

/** Sends a refusal in place of a whole answer if too much of earlier answers is pending. */
function boundWholeAnswers(app: FastifyInstance, deps: HttpDeps): void {
  app.addHook("onSend", (request, reply, payload, done) => {
    const isWhole = typeof payload === "string" || Buffer.isBuffer(payload);
    const refused = isWhole ? deps.openAnswers.addWhole(reply, payload.length) : undefined;
    if (!refused) return done();
    for (const name of OF_CONTENT) reply.removeHeader(name);
    done(null, problemText(deps, refused, request, reply));
  });
}

/**
 * Fastify creates a child logger for each request. Railhead logs the correlation id itself, and creating the child
 * took longer than finding the route. A custom factory would have its logger validated for each request.
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
    onRequest: async (request, reply) => {
      request.errorFamily = route.errors;
      request.operation = route.operation;
      if (!("permission" in route.access)) return;
      request.actor = await authenticateRequest(depsOf(route, deps, request), request);
      deps.openAnswers.addRequest(reply);
    },
    handler: async (request, reply) => {
      const still = (): Actor | Promise<Actor> => reauthenticateRequest(depsOf(route, deps, request), request);
      const { form } = route;
      // A form is read later.
      if (request.actor && !form) request.actor = await still();
      const inShare = shareOf(deps, request.actor);
      const run = (read: Call["form"]): Promise<Answer> => {
        const shared = sharedCall(route, request, {
          form: read,
          onIgnored: (fields) => ignoreFields(deps.log, request, reply, fields),
        });
        if (!("account" in route)) return asUnauthenticated(request, () => route.handle(shared));
        const call = privateCall(route.account, request, shared, still);
        return inShare(() => route.handle(call));
      };
      const answer = await (form ? withForm({ ...deps.forms, texts: form }, request, run) : run(noForm));
      if ("isLink" in route) requireAttachment(route, answer);
      return send(deps, answer, reply, inShare);
    },
  });
}

/** A page that a link shows could be read by the page that shows it. */
function requireAttachment({ operation, method }: Route, answer: Answer): void {
  if (method !== "GET" || answer.kind !== "text" || answer.fileName === undefined)
    throw new Error(`${operation} is a link and does not answer an attachment`);
}

/** Begins the work of a request with an actor: its handler, and the parts of its answer that are read later. */
function shareOf(deps: HttpDeps, actor: Actor | undefined): InShare {
  if (!actor) return (work) => work();
  const beforeCommit = deps.checkBeforeCommit(actor);
  return (work) => asCaller(actor, work, beforeCommit);
}

/** A route may have its own authentication, or be a link. */
function depsOf(route: Route, deps: HttpDeps, request: FastifyRequest): HttpDeps {
  if ("isLink" in route && deps.sessionOfLink) return { ...deps, sessionOf: deps.sessionOfLink };
  const known = "authenticate" in route ? route.authenticate : undefined;
  if (!known) return deps;
  const { accountId = "" } = request.params as Record<string, string>;
  return { ...deps, authenticate: (token) => known(token, accountId), sessionOf: async () => undefined };
}
