/** Reads a GraphQL request out of a body: JSON, or the form that browsers send. */
import type { FastifyRequest } from "fastify";
import type { IncomingMessage } from "node:http";
import { Problem } from "../../core/problem.ts";
import { decoded } from "../http/bodies.ts";
import { problem } from "./problems.ts";
import type { Variables } from "./documents.ts";

export type GraphqlRequest = {
  readonly query: string;
  readonly variables: Variables;
  readonly operationName: string | undefined;
};

export const MAX_GRAPHQL_BODY = 256 * 1024;

/** Names under which uploads travel elsewhere; here they never name a file, so they are refused (content-type confusion). */
const UPLOAD_SHAPED = ["file", "files", "filepath", "path", "tempFilePath"];

export function readJsonRequest(bytes: Buffer): GraphqlRequest {
  const text = decoded(bytes);
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (error) {
    throw problem("graphql.bad_body", [`The body is not JSON: ${(error as Error).message}`]);
  }
  return readObject(body);
}

function readObject(body: unknown): GraphqlRequest {
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw problem("graphql.bad_body", ["The body is not a JSON object."]);
  const { query, variables = null, operationName = null, ...rest } = body as Record<string, unknown>;
  const upload = UPLOAD_SHAPED.find((name) => Object.hasOwn(rest, name));
  if (upload) throw problem("graphql.upload_in_json", [upload]);
  if (typeof query !== "string" || query.trim() === "") throw problem("graphql.no_query");
  if (typeof variables !== "object" || Array.isArray(variables)) throw problem("graphql.bad_variables");
  if (operationName !== null && typeof operationName !== "string")
    throw problem("graphql.bad_body", ["operationName is not a string."]);
  return { query, variables: variables as Variables, operationName: operationName ?? undefined };
}

/**
 * The browser form of spec.md: parts `query` (plain GraphQL text, or JSON text with
 * the key `query`) and `x-api-key`. The credential it carries is answered beside it.
 */
export async function readFormRequest(
  request: FastifyRequest,
): Promise<{ request: GraphqlRequest; credential: string | undefined }> {
  const parts = await Promise.race([textParts(request), tooManyBytes(request.raw)]);
  const text = parts.get("query");
  if (text === undefined) throw problem("graphql.no_query");
  return { request: readQueryPart(text), credential: parts.get("x-api-key") };
}

const tooLarge = (): Problem => problem("graphql.bad_body", ["The form is larger than this operation takes."]);

/** Refuses a form that says itself that it is too large, before anything of it is read. */
export function checkFormLength(headers: { readonly "content-length"?: string | undefined }): void {
  if (Number(headers["content-length"] ?? 0) > MAX_GRAPHQL_BODY) throw tooLarge();
}

/** Rejects when more has arrived than a form may have: the limits of parts do not count what stands around them. */
function tooManyBytes(raw: IncomingMessage): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  let bytes = 0;
  raw.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= MAX_GRAPHQL_BODY) return;
    raw.unpipe();
    reject(tooLarge());
  });
  return promise;
}

async function textParts(request: FastifyRequest): Promise<ReadonlyMap<string, string>> {
  try {
    return await readParts(request);
  } catch (error) {
    // Limits that are passed come as errors with a status; anything else is what the form's parser found wrong.
    if (error instanceof Problem || (error as { statusCode?: number }).statusCode !== undefined) throw error;
    throw problem("graphql.bad_body", ["The form is malformed."]);
  }
}

async function readParts(request: FastifyRequest): Promise<ReadonlyMap<string, string>> {
  const parts = new Map<string, string>();
  const limits = {
    fieldNameSize: 100,
    fieldSize: MAX_GRAPHQL_BODY,
    fields: 8,
    files: 1,
    fileSize: MAX_GRAPHQL_BODY,
    headerPairs: 32,
  };
  for await (const part of request.parts({ limits })) {
    if (part.type === "file") {
      part.file.resume();
      throw problem("graphql.upload_in_json", [part.fieldname]);
    }
    if (part.fieldname !== "query" && part.fieldname !== "x-api-key")
      throw problem("graphql.unknown_part", [part.fieldname]);
    if (parts.has(part.fieldname)) throw problem("graphql.two_parts", [part.fieldname]);
    if (part.valueTruncated) throw problem("graphql.bad_body", [`The part '${part.fieldname}' is too large.`]);
    parts.set(part.fieldname, String(part.value));
  }
  return parts;
}

function readQueryPart(text: string): GraphqlRequest {
  if (text.trimStart().startsWith("{")) {
    const body = parsed(text);
    // `{ applications { … } }` is GraphQL too: only an object with the key `query` is the JSON form.
    if (typeof body === "object" && body !== null && Object.hasOwn(body, "query")) return readObject(body);
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
