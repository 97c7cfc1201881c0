/**
 * Unknown fields of a request's envelope: they have no effect and are named in a response header and in the debug
 * log. Keys that name the scope are reported as well; they must not differ from the query.
 */
import type { FastifyReply, FastifyRequest } from "fastify";
import { toWire } from "../../../core/ids.ts";
import type { IgnoredField } from "../../document/json/lenient.ts";
import { clip, pathText } from "../../document/position/path.ts";
import type { Log } from "../../log/log.ts";
import { problem } from "../problems.ts";

export const IGNORED_FIELDS = "railhead-ignored-fields";

/** Limit of the header in characters, without the count of further fields. */
const MAX_HEADER = 1_000;
const MAX_FIELD = 200;

const ACCOUNT_KEYS = ["accountIdentifier", "accountId", "routingId"];
const SCOPE_KEYS: ReadonlySet<string> = new Set([...ACCOUNT_KEYS, "orgIdentifier", "projectIdentifier"]);

/** Reports the fields. Throws `http.other_scope` for an unknown key that names another scope than the query. */
export function ignoreFields(
  log: Log,
  request: FastifyRequest,
  reply: FastifyReply,
  fields: readonly IgnoredField[],
): void {
  const named = fields.filter((field) => !agrees(request, field)).map(({ path }) => pathText(path));
  if (named.length === 0) return;
  reply.header(IGNORED_FIELDS, headerOf(named));
  log.debug(
    { fields: named.slice(0, 50), count: named.length, operation: request.operation, correlationId: request.id },
    "unknown fields of the request body are ignored",
  );
}

/** True for a scope key with the same value as the query. It is understood, so it is not reported. */
function agrees(request: FastifyRequest, { path, value }: IgnoredField): boolean {
  const [key] = path;
  const { actor } = request;
  if (path.length !== 1 || typeof key !== "string" || !SCOPE_KEYS.has(key) || !actor) return false;
  if (value === null || value === "") return true;
  const query = request.query as Readonly<Record<string, unknown>>;
  const expected = ACCOUNT_KEYS.includes(key) ? toWire(actor.accountId) : query[key];
  if (value === expected) return true;
  const shown = typeof value === "string" ? `'${clip(value)}'` : "no text";
  const place = typeof expected === "string" && expected !== "" ? `'${clip(expected)}'` : "not given";
  throw problem("http.other_scope", [key, shown, place]);
}

/** Formats `a.b, c[0].d, +5`: paths with other characters percent-encoded, and the number of further fields. */
export function headerOf(paths: readonly string[]): string {
  const named: string[] = [];
  let length = 0;
  for (const path of paths) {
    const field = encoded(path);
    if (length + field.length > MAX_HEADER) break;
    named.push(field);
    length += field.length + 2;
  }
  const rest = paths.length - named.length;
  return [...named, ...(rest > 0 ? [`+${rest}`] : [])].join(", ");
}

/** Removes half of a surrogate pair at the end of a shortened text. */
function encoded(path: string): string {
  let text = "";
  for (const sign of path) {
    const next = /^[\w.$[\]-]$/.test(sign) ? sign : encodeURIComponent(sign);
    if (text.length + next.length > MAX_FIELD) break;
    text += next;
  }
  return text;
}
