import type { DataOf } from "../../api/client.ts";
import type { AuditBody, auditList } from "../../api/operations.gen.ts";
import type { Scope } from "../../api/permissions.ts";
import { rangeOf } from "../../components/time-range/time-range.ts";
import type { AuditSearch, EntryKey } from "./audit-search.ts";

export const PAGE_SIZE = 50;

export type AuditEntry = DataOf<typeof auditList>["content"][number];
export type Principal = AuditEntry["authenticationInfo"]["principal"]["type"];

const PRINCIPALS = new Set<string>(["USER", "SERVICE_ACCOUNT", "TRIGGER", "DELEGATE", "SYSTEM", "ANONYMOUS"]);

/** `TRIGGER:id` names the kind. Without it, an e-mail address is a user and anything else a service account. */
export function readActor(value: string): { readonly type: Principal; readonly identifier: string } {
  const colon = value.indexOf(":");
  const kind = value.slice(0, Math.max(0, colon));
  if (PRINCIPALS.has(kind)) return { type: kind as Principal, identifier: value.slice(colon + 1) };
  return { type: value.includes("@") ? "USER" : "SERVICE_ACCOUNT", identifier: value };
}

/** `PIPELINE`, or `PIPELINE:deploy`. */
export function readResource(value: string): { readonly type: string; readonly identifier?: string } {
  const [type = "", ...rest] = value.split(":");
  return rest.length === 0 ? { type } : { type, identifier: rest.join(":") };
}

/** `default`, or `default/shop`. */
function readScope(value: string): Scope {
  const [org = "", project] = value.split("/");
  return project === undefined ? { orgIdentifier: org } : { orgIdentifier: org, projectIdentifier: project };
}

/** The request for one page of the trail. */
export function requestOf(scope: Scope, search: AuditSearch, now: number) {
  const { q, when, actor, action, resource, outcome, scope: scopes, page = 1 } = search;
  const outcomes = (outcome ?? []).filter((one) => one === "SUCCESS" || one === "REFUSED");
  const body: AuditBody = {
    filterType: "Audit",
    ...(q !== undefined && { searchTerm: q }),
    ...(when !== undefined && rangeOf(when, now)),
    ...(actor && { principals: actor.map(readActor) }),
    ...(action && { actions: action }),
    ...(resource && { resources: resource.map(readResource) }),
    ...(outcomes.length > 0 && { outcomes }),
    ...(scopes && { scopes: scopes.map(readScope) }),
  };
  return { query: { ...scope, pageSize: PAGE_SIZE, pageIndex: page - 1 }, body };
}

/** The request that finds an entry on any page of the trail: the entries of its millisecond. */
export const entryRequestOf = (scope: Scope, { at }: EntryKey) => ({
  query: { ...scope, pageSize: 100 },
  body: { filterType: "Audit", startTime: at, endTime: at } satisfies AuditBody,
});
