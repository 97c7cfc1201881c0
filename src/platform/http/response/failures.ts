/** Converts errors to answers in the envelope of the route's family, and records refusals in the audit trail. */
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { Problem } from "../../../core/problem.ts";
import type { NoteRefused } from "../../../core/refused.ts";
import type { Log } from "../../log/log.ts";
import { CONTENT_TYPES, errorBody } from "./envelope.ts";
import { problem } from "../problems.ts";
import { refusedBy } from "./refused-attempt.ts";

export type FailureDeps = {
  readonly log: Log;
  /** The problem for an error of an unreachable database; undefined for any other error. */
  readonly explain: (error: unknown) => Problem | undefined;
  /** Called with each refused attempt. */
  readonly refused?: NoteRefused;
};

/**
 * Converts any error: a Problem stays as it is, anything else becomes 500 with its cause in the log. The reason of a
 * refusal is logged in one line.
 */
export function toProblem(
  deps: Pick<FailureDeps, "log" | "explain">,
  error: unknown,
  correlationId: string,
  remoteAddress?: string,
): Problem {
  const known = error instanceof Problem ? error : (deps.explain(error) ?? fromFastify(error));
  if (known) {
    const { status, cause } = known;
    const reason = cause instanceof Error ? cause.message : typeof cause === "string" ? cause : "";
    const why = status >= 500 ? { err: cause ?? known } : { why: reason };
    if (status >= 500 || cause !== undefined)
      deps.log.warn({ code: known.code, ...why, correlationId, remoteAddress }, known.message);
    return known;
  }
  deps.log.error({ err: error, correlationId, remoteAddress }, "unexpected error");
  return problem("http.unexpected", [correlationId], { cause: error });
}

export function sendProblem(
  deps: FailureDeps,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  return reply.send(problemText(deps, error, request, reply));
}

/** Gives the answer the status and headers of a problem, and returns its body. */
export function problemText(deps: FailureDeps, error: unknown, request: FastifyRequest, reply: FastifyReply): string {
  // The sender of half a body has disconnected: the answer has no reader, and the server has not failed.
  const failed = isGone(request)
    ? problem("http.aborted")
    : (unknownType(error, request) ?? toProblem(deps, error, request.id, request.clientAddress));
  noteRefusal(deps, failed, request, request.operation);
  if (failed.status === 401 && request.errorFamily === "scim") reply.header("www-authenticate", "Bearer");
  if (failed.retryAfter !== undefined) reply.header("retry-after", String(failed.retryAfter));
  reply.code(failed.status).header("content-type", CONTENT_TYPES[request.errorFamily]);
  return JSON.stringify(errorBody(failed, request.errorFamily, request.id));
}

/** Records a refusal in the audit trail. `operation` is that of the route or the field. */
export function noteRefusal(
  { refused }: Pick<FailureDeps, "refused">,
  failed: Problem,
  request: FastifyRequest,
  operation: string,
): void {
  const attempt =
    refused && refusedBy(failed, request, { operation: operation || "http.request", actor: request.actor });
  if (attempt) refused(attempt);
}

/** Whether the sender closed the connection before the end of the request. */
const isGone = ({ raw }: FastifyRequest): boolean => raw.destroyed && !raw.complete;

/** A malformed content type, as it was sent. */
function unknownType(error: unknown, { headers }: FastifyRequest): Problem | undefined {
  if ((error as Partial<FastifyError>).code !== "FST_ERR_CTP_INVALID_MEDIA_TYPE") return undefined;
  return problem("http.bad_content_type", [(headers["content-type"] ?? "").slice(0, 80)]);
}

function fromFastify(error: unknown): Problem | undefined {
  const { statusCode, message } = error as Partial<FastifyError>;
  if (typeof statusCode === "number" && statusCode >= 400 && statusCode < 500)
    return problem("http.bad_body", [message ?? "The request is malformed."]);
  return undefined;
}
