/** Bodies that are documents: YAML and JSON alike (design section 7). */
import { parseDocument, type Doc } from "../document/document.ts";
import type { Limits } from "../document/limits.ts";
import { problem } from "./problems.ts";
import type { Body } from "./routes.ts";
import { decoded } from "./utf8.ts";

const JSON_TYPES = new Set(["application/json"]);
const YAML_TYPES = new Set(["application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml", ""]);
/** Connectors are sent as text too (reference section 3.1). */
const TEXT_TYPES = new Set(["text/plain", "text/html"]);

export type BodyTypes = { readonly orText?: boolean };
export type BodyLimits = BodyTypes & Partial<Limits>;

/** The document in a body. A type that is neither YAML nor JSON is refused by name, text unless `orText` allows it. */
export const documentOf = (body: Body, { orText = false, ...limits }: BodyLimits = {}): Doc =>
  parseDocument(textBytes(body, { orText }), { ...limits, format: formatOf(body) });

export const formatOf = (body: Body): "json" | "yaml" => (JSON_TYPES.has(body.contentType) ? "json" : "yaml");

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
