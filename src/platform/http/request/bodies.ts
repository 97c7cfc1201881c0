/** Bodies that are documents: YAML and JSON alike (design section 7). */
import type { z } from "zod";
import { parseDocument, type Doc, type Format } from "../../document/document.ts";
import { validateEnvelope } from "../../document/json/lenient.ts";
import type { Limits } from "../../document/limits.ts";
import { problem } from "../problems.ts";
import type { Body, Call } from "../routes.ts";
import { decoded } from "./utf8.ts";

const JSON_TYPES = new Set(["application/json"]);
const YAML_TYPES = new Set(["application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml", ""]);
/** Connectors are sent as text too. */
const TEXT_TYPES = new Set(["text/plain", "text/html"]);

/** JSON's objects and lists; no YAML text of a document begins so, but for one that is almost JSON. */
const JSON_START = /^\s*[[{]/;
/** A key with its colon, or an item of a list: neither stands in a JSON text that is no object and no list. */
const YAML_SIGN = /:(?:\s|$)|(?:^|\n) *- /;

export type BodyTypes = { readonly orText?: boolean };
/** `format`: what alone is understood, whatever the text looks like. */
export type BodyLimits = BodyTypes & Partial<Limits> & { readonly format?: Format };

/** The document in a body. A type that is neither YAML nor JSON is refused by name, text unless `orText` allows it. */
export const documentOf = (body: Body, { orText = false, ...limits }: BodyLimits = {}): Doc =>
  parseDocument(textBytes(body, { orText }), { format: formatOf(body), ...limits });

/** What the text is to be read as. Clients send YAML as `application/json`: that is told by how it begins. */
export function formatOf({ contentType, bytes }: Body): "json" | "yaml" {
  if (!JSON_TYPES.has(contentType)) return "yaml";
  if (bytes[0] === 0x7b) return "json";
  const text = bytes.toString("latin1");
  return !JSON_START.test(text) && YAML_SIGN.test(text) ? "yaml" : "json";
}

/** What of a request an envelope is read from. */
export type EnvelopeCall = Pick<Call, "body" | "onIgnored">;

/**
 * The envelope of a request, with its unknown fields left out and told to `call.onIgnored`. Documents that define
 * what is run are read with `validate`, which refuses them.
 */
export const envelopeOf = <T>(
  { body, onIgnored }: EnvelopeCall,
  schema: z.ZodType<T>,
  { root, ...options }: BodyLimits & { readonly root?: string } = {},
): T => validateEnvelope(schema, documentOf(body, options), { ...(root === undefined ? {} : { root }), onIgnored });

/** The body as it was sent, for what is kept word by word; undefined when there is none. */
export function textOf(body: Body): string | undefined {
  const bytes = textBytes(body, {});
  return bytes.length === 0 ? undefined : decoded(bytes);
}

/** The text of a body of any type; whoever parses it knows what it should be. */
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

/** ASCII is UTF-8 too; any other text would be read as what it is not. */
function checkCharset({ charset }: Body): void {
  if (!["", "utf-8", "utf8", "us-ascii"].includes(charset)) throw problem("http.bad_charset", [charset]);
}
