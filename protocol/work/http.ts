/** Work of kind `http`: a request that the delegate itself sends, and the result with which it answers. */
import { z } from "zod";
import { parts } from "./secrets.ts";

/** Bytes of a response's body, as UTF-8. */
export const MAX_RESPONSE_BODY = 256 * 1024;
/** Bytes of a request's body. */
export const MAX_REQUEST_BODY = 1024 * 1024;
/** Characters of the URL, and of the value of a header. */
export const MAX_REQUEST_LINE = 8 * 1024;
/** Headers of a request. */
export const MAX_HEADERS = 64;
/** In lower case: headers that describe the connection or the length of the body. The delegate sends its own. */
export const OWN_HEADERS: ReadonlySet<string> = new Set([
  ...["connection", "content-length", "expect", "keep-alive", "proxy-authorization", "proxy-connection"],
  ...["te", "trailer", "transfer-encoding", "upgrade"],
]);
export const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
export const METHODS = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"] as const;

export const httpTask = z.strictObject({
  kind: z.literal("http"),
  version: z.literal(1),
  method: z.enum(METHODS),
  /** An http or https URL without user name and password. */
  url: parts,
  /** Each name once, regardless of case. */
  headers: z
    .array(z.strictObject({ name: z.string().regex(HEADER_NAME), value: parts }))
    .max(MAX_HEADERS)
    .refine((headers) => new Set(headers.map(({ name }) => name.toLowerCase())).size === headers.length),
  body: parts.optional(),
  /** Milliseconds until the delegate aborts the request, redirects included. */
  timeoutMs: z.int().min(1),
  /** Their values are put into the parts. */
  secrets: z
    .strictObject({ uses: z.array(z.strictObject({ as: z.literal("value"), label: z.string().max(256) })).max(256) })
    .optional(),
});
/** A request, composed of texts and secrets. */
export type HttpTask = z.infer<typeof httpTask>;

const duration = z.int().min(0);
/** PostgreSQL stores no NUL in a text. */
const text = z.string().regex(/^[^\0]*$/);

/** Secrets of the task are masked in all texts. */
export const httpResult = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("response"),
    status: z.int().min(100).max(999),
    /** Names in lower case, without `set-cookie`, whose values are credentials. */
    headers: z.array(z.strictObject({ name: text, value: text })).max(2_000),
    /** Null: the body is no text. */
    body: text.refine((body) => Buffer.byteLength(body) <= MAX_RESPONSE_BODY).nullable(),
    durationMs: duration,
  }),
  /** There is no response, or none that can be used; the request may have been received. */
  z.strictObject({
    kind: z.literal("failure"),
    /** `invalid`: nothing was sent. */
    reason: z.enum(["invalid", "timeout", "tls", "connection", "redirect", "responseTooLarge"]),
    message: text.max(2_048),
    durationMs: duration,
  }),
]);
export type HttpResult = z.infer<typeof httpResult>;
