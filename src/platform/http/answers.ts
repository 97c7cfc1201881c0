import { success } from "./envelope.ts";
import type { Answer, Call } from "./routes.ts";

/** 200 in the envelope of spec.md. */
export const ok = (call: Pick<Call, "correlationId">, data: unknown): Answer => ({
  kind: "json",
  status: 200,
  body: success(data, call.correlationId),
});

export const json = (status: number, body: unknown): Answer => ({ kind: "json", status, body });
export const text = (body: string | Buffer | AsyncIterable<Buffer>, status = 200): Answer => ({
  kind: "text",
  status,
  body,
});
