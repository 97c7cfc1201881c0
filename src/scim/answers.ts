/** Request bodies and responses of SCIM, and the mapping of other slices' problems. */
import { Problem } from "../core/problem.ts";
import { documentOf } from "../platform/http/request/bodies.ts";
import type { Answer, Body, Call } from "../platform/http/routes.ts";
import { etagOf } from "./document/show.ts";
import { problem } from "./problems.ts";

export const SCIM_TYPE = "application/scim+json";
const TYPES = new Set([SCIM_TYPE, "application/json"]);
export const MAX_BODY = 1024 * 1024;
/** A group of ten thousand members, each an object with value and display. */
const LIMITS = { maxBytes: MAX_BODY, maxNodes: 50_000, maxDepth: 16 };

/** Parses the JSON of a request. Throws `scim.invalid_syntax`. */
export function bodyOf(body: Body): unknown {
  if (!TYPES.has(body.contentType))
    throw problem("scim.invalid_syntax", [`Bodies are ${SCIM_TYPE} or application/json.`]);
  return documentOf({ ...body, contentType: "application/json" }, { ...LIMITS, format: "json" }).value;
}

const headers = { "content-type": `${SCIM_TYPE}; charset=utf-8` };

export const json = (status: number, body: unknown, more: Readonly<Record<string, string>> = {}): Answer => ({
  kind: "json",
  status,
  body,
  headers: { ...headers, ...more },
});

const TAG = /^(?:W\/)?"(\d{1,9})"$/;

/** The versions named by a header; "any" for `*`. Foreign entity tags are ignored. */
function versionsIn(header: string | readonly string[] | undefined): readonly number[] | "any" | undefined {
  if (header === undefined) return undefined;
  const tags = String(header)
    .split(",")
    .map((tag) => tag.trim());
  if (tags.length === 1 && tags[0] === "*") return "any";
  return tags.map((tag) => Number(TAG.exec(tag)?.[1] ?? -1));
}

/**
 * The version that a change requires; undefined without If-Match. If several are allowed (RFC 9110 section 13.1.1), the
 * current one, which `version` reads. Throws `scim.stale_version`.
 */
export async function versionOfIfMatch(
  { headers: sent }: Pick<Call, "headers">,
  version: () => Promise<number>,
): Promise<number | undefined> {
  const tags = versionsIn(sent["if-match"]);
  if (tags === undefined || tags === "any") return undefined;
  const [tag, another] = tags;
  if (another === undefined) return tag;
  const now = await version();
  if (!tags.includes(now)) throw problem("scim.stale_version");
  return now;
}

/** Refuses a change of a version that If-None-Match names (RFC 9110 section 13.1.2). Throws `scim.is_there`. */
export async function checkIfNoneMatch(call: Pick<Call, "headers">, version: () => Promise<number>): Promise<void> {
  if (call.headers["if-none-match"] !== undefined && matchesIfNoneMatch(call, await version()))
    throw problem("scim.is_there");
}

/** Whether the caller has this version already. */
export function matchesIfNoneMatch({ headers: sent }: Pick<Call, "headers">, version: number): boolean {
  const tags = versionsIn(sent["if-none-match"]);
  return tags === "any" || tags?.includes(version) === true;
}

export const notModified = (version: number): Answer => ({
  kind: "empty",
  status: 304,
  headers: { etag: etagOf(version) },
});

/** Problems of other slices with a SCIM equivalent. */
const SCIM_PROBLEMS: Readonly<Record<string, (found: Problem) => Error>> = {
  "core.stale_version": () => problem("scim.stale_version"),
  "identity.taken": ({ message }) => problem("scim.uniqueness", [message]),
  "identity.bad_email": ({ message }) => problem("scim.invalid_value", [message]),
  "identity.bad_name": ({ message }) => problem("scim.invalid_value", [message]),
  "access.name_taken": ({ message }) => problem("scim.uniqueness", [message]),
  "access.duplicate": ({ message }) => problem("scim.uniqueness", [message]),
  "access.no_person": ({ message, refusal }) => problem("scim.invalid_value", [message], { refusal }),
};

/** Wraps a handler and maps its problems to SCIM. */
export const withScimProblems =
  <C extends Pick<Call, "params">>(handle: (call: C) => Promise<Answer>) =>
  async (call: C): Promise<Answer> => {
    try {
      return await handle(call);
    } catch (error) {
      throw error instanceof Problem ? toScimProblem(error, call.params["id"] ?? "") : error;
    }
  };

/** `id` is the one in the path. */
function toScimProblem(found: Problem, id: string): Error {
  const known = SCIM_PROBLEMS[found.code];
  if (known) return known(found);
  // Unreadable input is a syntax error; 402 is no status of SCIM.
  if (found.code.startsWith("document."))
    return problem("scim.invalid_syntax", [found.message], { cause: found.cause });
  // Deleted between two statements.
  const { refusal } = found;
  if (found.code === "identity.no_user") return problem("scim.no_resource", ["User", id.slice(0, 64)], { refusal });
  if (found.code === "access.no_group") return problem("scim.no_resource", ["Group", id.slice(0, 64)], { refusal });
  return found;
}
