/** POST /audit/api/audits/list (reference section 4.5). */
import { ok } from "../platform/http/answers.ts";
import { documentOf } from "../platform/http/bodies.ts";
import { ngPage, ngPageQuery, ngPageShape, ngWindow } from "../platform/http/pages.ts";
import { route, type Route } from "../platform/http/routes.ts";
import { enveloped } from "../platform/http/shapes.ts";
import { validate } from "../platform/document/validate.ts";
import type { ListAudits } from "./list.ts";
import { auditBody, auditEvent, auditEventShape, filterOf } from "./wire.ts";

export const auditRoutes = (verbs: { list: ListAudits }): readonly Route[] => [
  route({
    method: "POST",
    path: "/audit/api/audits/list",
    operation: "audit.list",
    access: { permission: "core_audit_view" },
    query: ngPageQuery(50),
    doc: {
      summary: "List the audit trail, newest first",
      body: {
        schema: auditBody,
        required: false,
        example: { filterType: "Audit", scopes: [{ orgIdentifier: "default" }], actions: ["CREATE"] },
      },
      answer: enveloped(ngPageShape(auditEventShape)),
    },
    handle: async (call) => {
      const filter = call.body.bytes.length === 0 ? {} : filterOf(validate(auditBody, documentOf(call.body)));
      return ok(call, await ngPage(await verbs.list(call.actor, filter, ngWindow(call.query)), auditEvent));
    },
  }),
];
