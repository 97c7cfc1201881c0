import type { FastifyRequest } from "fastify";
import type { RequestFacts } from "../../../core/actor.ts";

/** What the audit trail records of a request. The query is left out, because it may contain secrets. */
export const factsOf = (request: FastifyRequest): RequestFacts => ({
  method: request.method,
  path: request.url.split("?")[0] ?? "",
  remoteAddress: request.clientAddress,
  correlationId: request.id,
});
