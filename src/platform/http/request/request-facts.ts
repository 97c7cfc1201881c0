import type { FastifyRequest } from "fastify";
import type { RequestFacts } from "../../../core/actor.ts";

/** What the audit trail keeps of a request: never its query, which may hold what is secret. */
export const factsOf = (request: FastifyRequest): RequestFacts => ({
  method: request.method,
  path: request.url.split("?")[0] ?? "",
  remoteAddress: request.clientAddress,
  correlationId: request.id,
});
