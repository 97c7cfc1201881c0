import type { FastifyRequest } from "fastify";
import type { RequestFacts } from "../../../core/actor.ts";

/** The parameter of a path that is a secret, such as the token of a webhook. */
export const SECRET_PARAMETER = "token";

/**
 * What the audit trail records of a request. It has no secrets: the query is left out, and of a path with a secret the
 * route stands for it.
 */
export const factsOf = (request: FastifyRequest): RequestFacts => ({
  method: request.method,
  path: Object.hasOwn(request.params ?? {}, SECRET_PARAMETER)
    ? (request.routeOptions.url ?? "")
    : (request.url.split("?")[0] ?? ""),
  remoteAddress: request.clientAddress,
  correlationId: request.id,
});
