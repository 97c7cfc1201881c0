/** Bodies that are documents: YAML and JSON alike (design section 7). */
import { isUtf8 } from "node:buffer";
import { parseDocument, type Doc } from "../document/document.ts";
import { problem } from "./problems.ts";
import type { Body } from "./routes.ts";

const JSON_TYPES = new Set(["application/json"]);
const YAML_TYPES = new Set([
  "application/yaml",
  "application/x-yaml",
  "text/yaml",
  "text/x-yaml",
  "text/plain",
  "text/html",
  "",
]);

/** The document in a body. A type that is neither YAML nor JSON is refused by name. */
export const documentOf = (body: Body): Doc => parseDocument(textBytes(body), { format: formatOf(body) });

export const formatOf = (body: Body): "json" | "yaml" => (JSON_TYPES.has(body.contentType) ? "json" : "yaml");

/** The body as it was sent, for what is kept word by word; undefined when there is none. */
export function textOf(body: Body): string | undefined {
  const bytes = textBytes(body);
  return bytes.length === 0 ? undefined : decoded(bytes);
}

/** The text of bytes that must be UTF-8: replacing what is not would keep something else than was sent. */
export function decoded(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw problem("http.bad_body", ["The body is not UTF-8."]);
  return bytes.toString("utf8");
}

function textBytes(body: Body): Buffer {
  if (!JSON_TYPES.has(body.contentType) && !YAML_TYPES.has(body.contentType))
    throw problem("http.bad_content_type", [body.contentType]);
  return body.bytes;
}
