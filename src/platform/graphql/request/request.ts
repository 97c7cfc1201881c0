/** Parses a GraphQL request from JSON, or from the part `query` of a form. */
import { describeDuplicateKey } from "../../document/json/json-scan.ts";
import { decoded } from "../../http/request/utf8.ts";
import { problem } from "../problems.ts";
import type { Variables } from "./documents.ts";

export type GraphqlRequest = {
  readonly query: string;
  readonly variables: Variables;
  readonly operationName: string | undefined;
};

export const MAX_GRAPHQL_BODY = 256 * 1024;

/**
 * Names under which form parsers pass uploads on. Railhead takes a file only from its own parser, so JSON with these
 * names is rejected: it pretends to be an upload (content-type confusion).
 */
const UPLOAD_KEYS = ["file", "files", "filepath", "tempFilePath"];
/** `path` is an ordinary word; together with one of these it comes from a parser. */
const PARSER_KEYS = ["filename", "originalFilename", "newFilename", "mimetype", "fieldname", "encoding", "size"];

export function readJsonRequest(bytes: Buffer): GraphqlRequest {
  const text = decoded(bytes);
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (error) {
    throw problem("graphql.bad_body", [`The body is not JSON: ${(error as Error).message}`]);
  }
  refuseTwice(text);
  return readObject(body);
}

/** Rejects duplicate keys: a gateway in front may have used the other value. */
function refuseTwice(text: string): void {
  const twice = describeDuplicateKey(text);
  if (twice !== undefined) throw problem("graphql.bad_body", [twice]);
}

function readObject(body: unknown): GraphqlRequest {
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw problem("graphql.bad_body", ["The body is not a JSON object."]);
  const { query, variables = null, operationName = null, extensions = null } = body as Record<string, unknown>;
  const upload = ["path", ...UPLOAD_KEYS].find((name) => Object.hasOwn(body, name)) ?? uploadIn(variables);
  if (upload) throw problem("graphql.upload_in_json", [upload]);
  if (typeof query !== "string" || query.trim() === "") throw problem("graphql.no_query");
  if (typeof variables !== "object" || Array.isArray(variables)) throw problem("graphql.bad_variables");
  if (typeof extensions !== "object" || Array.isArray(extensions))
    throw problem("graphql.bad_body", ["extensions is neither an object nor null."]);
  if (operationName !== null && typeof operationName !== "string")
    throw problem("graphql.bad_body", ["operationName is not a string."]);
  return { query, variables: variables as Variables, operationName: operationName ?? undefined };
}

/** The first name, at any depth, that pretends to be an upload. A variable may have any name if its value is plain. */
function uploadIn(variables: unknown): string | undefined {
  const open = [variables];
  // Not recursive, because JSON may be nested deeper than the stack.
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value !== "object" || value === null) continue;
    const found = UPLOAD_KEYS.find(
      (name) => Object.hasOwn(value, name) && (value !== variables || isObject((value as Values)[name])),
    );
    if (found) return found;
    if (Object.hasOwn(value, "path") && PARSER_KEYS.some((name) => Object.hasOwn(value, name))) return "path";
    for (const inner of Object.values(value)) if (isObject(inner)) open.push(inner);
  }
  return undefined;
}

type Values = Readonly<Record<string, unknown>>;
const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;

/** The part `query` of a form: JSON text with the key `query`, or the GraphQL text itself. */
export function readQueryPart(text: string): GraphqlRequest {
  if (text.trimStart().startsWith("{")) {
    const body = parsed(text);
    // `{ applications { … } }` is also GraphQL: only an object with the key `query` is the JSON form.
    if (typeof body === "object" && body !== null && Object.hasOwn(body, "query")) {
      refuseTwice(text);
      return readObject(body);
    }
  }
  if (text.trim() === "") throw problem("graphql.no_query");
  return { query: text, variables: null, operationName: undefined };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
