import { contentTag, isKnown } from "./static-files.ts";
import { success } from "./envelope.ts";
import type { Answer, Call, TextAnswer } from "../routes.ts";

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

/** Data that changes with the release only, with the ETag of its content. */
export type ConstantData = { readonly data: unknown; readonly etag: string };

export const constantData = (data: unknown): ConstantData => ({ data, etag: contentTag(JSON.stringify(data)) });

/** 200 with the data, or 304 if `If-None-Match` names it. */
export function okConstant(call: Pick<Call, "correlationId" | "headers">, { data, etag }: ConstantData): Answer {
  const headers = { etag, "cache-control": "private, no-cache" };
  const known = call.headers["if-none-match"];
  if (isKnown(known === undefined ? undefined : String(known), etag)) return { kind: "empty", status: 304, headers };
  return okWith(call, data, headers);
}

/** JSON without an envelope. */
export const json = (status: number, body: unknown): Answer => ({ kind: "json", status, body });
/** Plain text. The parts of an iterable are read while they are sent. */
export const text = (body: string | Buffer | AsyncIterable<Buffer>, status = 200): TextAnswer => ({
  kind: "text",
  status,
  body,
});
