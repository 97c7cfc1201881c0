/** Bodies that are documents, in YAML or JSON. */
import type { z } from "zod";
import { parseDocument, type Doc, type Format } from "../../document/document.ts";
import { validateEnvelope } from "../../document/json/lenient.ts";
import type { Limits } from "../../document/limits.ts";
import { problem } from "../problems.ts";
import type { Body, Call } from "../routes.ts";
import { decoded } from "./utf8.ts";

const JSON_TYPES = new Set(["application/json"]);
const YAML_TYPES = new Set(["application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml", ""]);
/** Connectors are also sent as text. */
const TEXT_TYPES = new Set(["text/plain", "text/html"]);

/** Begins a JSON object or list. A YAML document does not begin so, except one that is almost JSON. */
const JSON_START = /^\s*[[{]/;
/** A key with its colon, or a list item. Neither occurs in a JSON text that is not an object or list. */
const YAML_SIGN = /:(?:\s|$)|(?:^|\n) *- /;

export type BodyTypes = { readonly orText?: boolean };
/** `format`: the only accepted format, whatever the text looks like. */
export type BodyLimits = BodyTypes & Partial<Limits> & { readonly format?: Format };

/**
 * Parses the document in a body. Media types other than YAML and JSON are rejected by name, and text too unless
 * `orText`.
 */
export const documentOf = (body: Body, { orText = false, ...limits }: BodyLimits = {}): Doc =>
  parseDocument(textBytes(body, { orText }), { format: formatOf(body), ...limits });

/** Chooses the parser. Clients send YAML as `application/json`, so the beginning of the text decides. */
export function formatOf({ contentType, bytes }: Body): "json" | "yaml" {
  if (!JSON_TYPES.has(contentType)) return "yaml";
  if (bytes[0] === 0x7b) return "json";
  const text = bytes.toString("latin1");
  return !JSON_START.test(text) && YAML_SIGN.test(text) ? "yaml" : "json";
}

/** The parts of a request that an envelope is read from. */
export type EnvelopeCall = Pick<Call, "body" | "onIgnored">;

/**
 * Parses the envelope of a request without its unknown fields, which it reports to `call.onIgnored`. Documents that
 * define what is executed use `validate`, which rejects unknown fields.
 */
export const envelopeOf = <T>(
  { body, onIgnored }: EnvelopeCall,
  schema: z.ZodType<T>,
  { root, ...options }: BodyLimits & { readonly root?: string } = {},
): T => validateEnvelope(schema, documentOf(body, options), { ...(root === undefined ? {} : { root }), onIgnored });

/** The body as it was sent, for storing it unchanged; undefined if it is empty. */
export function textOf(body: Body): string | undefined {
  const bytes = textBytes(body, {});
  return bytes.length === 0 ? undefined : decoded(bytes);
}

/** The text of a body of any media type; the caller parses it. */
export function payloadOf(body: Body): string {
  checkCharset(body);
  return decoded(body.bytes);
}

function textBytes(body: Body, { orText = false }: BodyTypes): Buffer {
  const { contentType } = body;
  if (!JSON_TYPES.has(contentType) && !YAML_TYPES.has(contentType) && !(orText && TEXT_TYPES.has(contentType)))
    throw problem("http.bad_content_type", [contentType]);
  checkCharset(body);
  return body.bytes;
}

/** ASCII is valid UTF-8; any other charset would be decoded wrongly. */
function checkCharset({ charset }: Body): void {
  if (!["", "utf-8", "utf8", "us-ascii"].includes(charset)) throw problem("http.bad_charset", [charset]);
}
