/** POST /audit/api/audits/list, the YAML of an entry, and the export. */
import { z } from "zod";
import { toWire } from "../core/ids.ts";
import { ok } from "../platform/http/response/answers.ts";
import { envelopeOf, type EnvelopeCall } from "../platform/http/request/bodies.ts";
import { ngPage, ngPageShape, ngWindow, sortedPageQuery } from "../platform/http/response/pages.ts";
import { problem } from "../platform/http/problems.ts";
import { route, type Call, type Route } from "../platform/http/routes.ts";
import { maybeProjectQuery, moment } from "../platform/http/request/queries.ts";
import { enveloped } from "../platform/http/response/shapes.ts";
import type { AuditFilter } from "./entry.ts";
import type { ExportAudits } from "./read/export.ts";
import type { GetAudit } from "./read/get.ts";
import type { ListAudits } from "./read/list.ts";
import { auditBody, auditEvent, auditEventShape, filterOf, yamlSidesOf } from "./wire.ts";

export const auditRoutes = (operations: {
  list: ListAudits;
  get: GetAudit;
  export: ExportAudits;
}): readonly Route[] => [
  route({
    method: "GET",
    path: "/audit/api/audits/export",
    operation: "audit.export",
    access: { permission: "core_audit_view" },
    query: z.object({ startTime: moment().optional(), endTime: moment().optional() }),
    doc: {
      summary: "Export the audit trail as JSON lines, oldest first",
      description:
        "One entry of the list a line. It is read as fast as it is taken; a connection that ends early has not given all.",
      queryExample: { startTime: "0" },
      answer: "application/x-ndjson",
    },
    handle: async ({ actor, query: { startTime, endTime } }) => ({
      kind: "text",
      status: 200,
      type: "application/x-ndjson",
      body: operations.export(actor, { from: startTime, to: endTime }),
    }),
  }),
  route({
    method: "POST",
    path: "/audit/api/audits/list",
    operation: "audit.list",
    access: { permission: "core_audit_view" },
    query: sortedPageQuery(50, ["timestamp"]).extend(maybeProjectQuery.shape),
    doc: {
      summary: "List the audit trail, newest first unless sortOrders says timestamp,ASC",
      description:
        "orgIdentifier and projectIdentifier limit the list to that scope and its child scopes, in addition to the scopes of the body.",
      body: {
        schema: auditBody,
        required: false,
        example: { filterType: "Audit", scopes: [{ orgIdentifier: "default" }], actions: ["CREATE"] },
      },
      answer: enveloped(ngPageShape(auditEventShape)),
    },
    handle: async (call) => {
      const asked = call.body.bytes.length === 0 ? {} : filterOf(ownScopes(call));
      const filter = { ...asked, scopes: narrowed(asked.scopes, call.query) };
      return ok(call, await ngPage(await operations.list(call.actor, filter, ngWindow(call.query)), auditEvent));
    },
  }),
  yamlRoute(operations.get),
];

/** Both are null if the entry has no difference, such as for the start of an execution. */
const yamlShape = z.strictObject({ oldYaml: z.string().nullable(), newYaml: z.string().nullable() });

const yamlRoute = (get: GetAudit): Route =>
  route({
    method: "GET",
    path: "/audit/api/auditYaml",
    operation: "audit.yaml",
    access: { permission: "core_audit_view" },
    query: z.object({ auditId: z.string({ error: "is required" }).max(64, "takes at most 64 characters") }),
    doc: {
      summary: "Read what an entry of the audit trail changed, as YAML before and after",
      description:
        "Holds the changed fields only. Both sides are null for an entry that compares nothing. Values of secrets are never part of the trail.",
      answer: enveloped(yamlShape),
    },
    handle: async (call) => {
      const { difference } = await get(call.actor, call.query.auditId);
      return ok(call, difference ? yamlSidesOf(difference) : { oldYaml: null, newYaml: null });
    },
  });

type Scopes = AuditFilter["scopes"];
type Within = z.output<typeof maybeProjectQuery>;

/** Those scopes of the body that are within the scope of the query. Throws `http.bad_query`. */
function narrowed(scopes: Scopes, { orgIdentifier: org, projectIdentifier: project }: Within): Scopes {
  if (org === undefined && project === undefined) return scopes;
  if (org === undefined) throw problem("http.bad_query", ["orgIdentifier is required beside projectIdentifier"]);
  return (scopes ?? [{ org: null, project: null }])
    .filter((one) => (one.org ?? org) === org && (project === undefined || (one.project ?? project) === project))
    .map((one) => ({ org, project: project ?? one.project }));
}

/** The filter of the body. A scope of another account is refused as in the query. */
function ownScopes(call: EnvelopeCall & Pick<Call, "accountId">): z.output<typeof auditBody> {
  const body = envelopeOf(call, auditBody);
  const own = toWire(call.accountId);
  if (body.scopes?.some(({ accountIdentifier }) => (accountIdentifier ?? own) !== own)) throw problem("http.not_yours");
  return body;
}
