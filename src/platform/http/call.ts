/** A request as handlers see it: its decoded query and its account. */
import type { FastifyRequest } from "fastify";
import type { Actor } from "../../core/actor.ts";
import { toWire } from "../../core/ids.ts";
import { factsOf } from "./request/request-facts.ts";
import { problem } from "./problems.ts";
import { mediaType } from "./request/read-bytes.ts";
import type { Body, Call, PrivateRoute, PublicCall, Route } from "./routes.ts";

/** The header that names the account in the v1 family. */
export const ACCOUNT_HEADER = "x-platform-account";

const NO_BYTES = Buffer.alloc(0);

/** Decodes a query. Throws `http.bad_query`. */
export function sharedCall(
  route: Route,
  request: FastifyRequest,
  { form, onIgnored }: Pick<Call, "form" | "onIgnored">,
): PublicCall {
  const given = request.query as Record<string, unknown>;
  const parsed = route.query.safeParse(given);
  refuseTwice(given, parsed.success ? parsed.data : listsIn(parsed.error.issues));
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const message = issue?.message ?? "is wrong";
    // Railhead's own messages continue the parameter's name; those of the library are sentences.
    const between = /^[a-z]/.test(message) ? " " : ": ";
    throw problem("http.bad_query", [`${issue?.path.join(".") ?? ""}${between}${message}.`]);
  }
  return {
    query: parsed.data,
    params: request.params as Record<string, string>,
    headers: request.headers,
    form,
    onIgnored,
    // A form has not been read yet.
    body: (request.body as Body | undefined) ?? { contentType: mediaType(request), charset: "", bytes: NO_BYTES },
    correlationId: request.id,
    facts: factsOf(request),
  };
}

/** Decodes the query and checks the account. Throws `http.bad_query`, `http.not_yours`. */
export function privateCall(
  parameter: PrivateRoute["account"],
  request: FastifyRequest,
  shared: PublicCall,
  still: Call["still"],
): Call {
  const actor = request.actor;
  if (!actor) throw problem("http.no_credential");
  if (parameter === "path") checkPathAccount(actor, shared);
  else if (parameter === "header") checkHeaderAccount(request, actor, shared);
  else checkAccount(parameter, request, actor, shared.query);
  return { ...shared, actor, still, accountId: actor.accountId };
}

/**
 * Checks that the account in the query is the credential's. Another account and one that does not exist get the same
 * answer (invariant 7).
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

/** The same check for an account in the path. */
function checkPathAccount(actor: Actor, { params }: PublicCall): void {
  if (params["accountId"] !== toWire(actor.accountId)) throw problem("http.not_yours");
}

/**
 * The same check for the account in a header; the query may name it as well. Throws `http.bad_query`,
 * `http.not_yours`.
 */
function checkHeaderAccount(request: FastifyRequest, actor: Actor, { query }: PublicCall): void {
  const named = request.headers[ACCOUNT_HEADER];
  if (named === undefined || named === "") return checkAccount("accountIdentifier", request, actor, query);
  if (named !== toWire(actor.accountId)) throw problem("http.not_yours");
  const { accountIdentifier = named } = request.query as Record<string, unknown>;
  if (accountIdentifier !== named)
    throw problem("http.bad_query", [`accountIdentifier is another account than the header ${ACCOUNT_HEADER}.`]);
}

/** Recognizes parameters that may be repeated by a fault inside one of their values. */
const listsIn = (issues: readonly { readonly path: readonly PropertyKey[] }[]): Record<string, unknown> =>
  Object.fromEntries(issues.filter(({ path }) => path.length > 1).map(({ path }) => [String(path[0]), []]));

/**
 * Rejects a parameter that is repeated where no list is allowed. A gateway in front may read another one of the
 * values.
 */
function refuseTwice(query: Record<string, unknown>, taken: unknown = {}): void {
  const isList = (name: string): boolean => Array.isArray((taken as Record<string, unknown>)[name]);
  const twice = Object.entries(query).find(([name, value]) => typeof value !== "string" && !isList(name));
  if (twice) throw problem("http.bad_query", [`${twice[0].slice(0, 80)} is given twice.`]);
}
