import { success } from "./envelope.ts";
import type { Answer, Call } from "../routes.ts";

/**
 * 200 with the envelope `{status, data, metaData, correlationId}`; with an ETag if `data` is one resource that
 * accepts `If-Match`.
 */
export const ok = (call: Pick<Call, "correlationId">, data: unknown, version?: number): Answer => ({
  kind: "json",
  status: 200,
  body: success(data, call.correlationId),
  ...(version === undefined ? {} : { version }),
});

/** The same with further headers, such as cookies. */
export const okWith = (
  call: Pick<Call, "correlationId">,
  data: unknown,
  headers: Readonly<Record<string, string | readonly string[]>>,
): Answer => ({ kind: "json", status: 200, body: success(data, call.correlationId), headers });

/** JSON without an envelope. */
export const json = (status: number, body: unknown): Answer => ({ kind: "json", status, body });
/** Plain text. The parts of an iterable are read while they are sent. */
export const text = (body: string | Buffer | AsyncIterable<Buffer>, status = 200): Answer => ({
  kind: "text",
  status,
  body,
});
