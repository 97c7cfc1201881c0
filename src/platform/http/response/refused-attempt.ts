/** Decides which errors the audit trail records as refusals, for every route and GraphQL field. */
import type { FastifyRequest } from "fastify";
import type { Actor } from "../../../core/actor.ts";
import { fromWire, type Uuid } from "../../../core/ids.ts";
import type { Problem } from "../../../core/problem.ts";
import type { Denied, RefusedAttempt } from "../../../core/refused.ts";
import { credentialOf } from "../credentials.ts";
import { factsOf, SECRET_PARAMETER } from "../request/request-facts.ts";

/** The operation of a route, or a field. */
type Asked = { readonly operation: string; readonly actor: Actor | undefined };

/**
 * Returns the attempt if the problem refuses one: an invalid credential that names an account (401), a missing
 * permission (403), or a problem that carries a refusal, such as "not found" for a resource that the actor may not see.
 * Undefined for any other problem, and without an account.
 */
export function refusedBy(
  failed: Problem,
  request: FastifyRequest,
  { operation, ...asked }: Asked,
): RefusedAttempt | undefined {
  const { refusal, status } = failed;
  if (!refusal && status !== 401 && status !== 403) return undefined;
  const actor = asked.actor ?? refusal?.actor;
  const denied = refusal?.denied;
  const claimed = actor ? undefined : claimOf(request);
  const accountId = actor?.accountId ?? claimed?.accountId;
  if (!accountId) return undefined;
  return {
    accountId,
    actor,
    claims: claimed?.token,
    operation,
    code: failed.code,
    status,
    ...about(denied, request, operation),
    resourceId: short(denied?.identifier ?? lastOf(request.params) ?? claimed?.token ?? ""),
    request: actor?.request ?? factsOf(request),
  };
}

const about = (denied: Denied | undefined, request: FastifyRequest, operation: string) => ({
  permission: denied?.permission,
  resourceType: nounOf((denied ? denied.permission.split("_")[1] : operation.split(".")[0]) ?? ""),
  scope: denied?.scope ?? scopeAsked(request),
});

/** The account that a rejected credential names, or else the path. Neither needs to exist. */
function claimOf({ raw, params }: FastifyRequest): { accountId: Uuid; token: string | undefined } | undefined {
  let credential: string | undefined;
  try {
    credential = credentialOf(raw);
  } catch {
    return undefined;
  }
  if (credential === undefined) return undefined;
  const [kind, account = "", id = "", secret, ...rest] = credential.slice(0, 256).split(".");
  const accountId = fromWire(account);
  // Only a token of four parts: in others the part could be the secret.
  const isToken = /^[a-z]{3}$/.test(kind ?? "") && secret !== undefined && rest.length === 0;
  if (accountId && isToken) return { accountId, token: fromWire(id) ? id : undefined };
  // A signed SCIM token (three parts, all omitted from the entry) does not name the account; the address does.
  const { accountId: inPath = "" } = (params ?? {}) as Readonly<Record<string, string | undefined>>;
  const asked = fromWire(inPath);
  return asked && { accountId: asked, token: undefined };
}

const nounOf = (noun: string): string => noun.replaceAll("-", "_").toUpperCase();

const MAX_TEXT = 128;
const short = (text: string): string => text.slice(0, MAX_TEXT);

function lastOf(params: unknown): string | undefined {
  const [name, last] = Object.entries((params ?? {}) as Readonly<Record<string, unknown>>).at(-1) ?? [];
  return typeof last === "string" && name !== SECRET_PARAMETER ? last : undefined;
}

function scopeAsked({ query }: FastifyRequest): RefusedAttempt["scope"] {
  const { orgIdentifier, projectIdentifier } = (query ?? {}) as Readonly<Record<string, unknown>>;
  return {
    ...(typeof orgIdentifier === "string" ? { orgIdentifier: short(orgIdentifier) } : {}),
    ...(typeof projectIdentifier === "string" ? { projectIdentifier: short(projectIdentifier) } : {}),
  };
}
