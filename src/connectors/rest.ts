import { ok } from "../platform/http/answers.ts";
import { documentOf } from "../platform/http/bodies.ts";
import { maybeProjectQuery } from "../platform/http/queries.ts";
import { route, type Route } from "../platform/http/routes.ts";
import { validate } from "../platform/document/validate.ts";
import type { CreateConnector } from "./create.ts";
import type { GetConnector } from "./get.ts";
import { connectorBody, connectorResponse } from "./wire.ts";

export const connectorRoutes = (verbs: { create: CreateConnector; get: GetConnector }): readonly Route[] => [
  route({
    method: "POST",
    path: "/ng/api/connectors",
    operation: "connector.create",
    access: { permission: "core_connector_edit" },
    // The scope comes from the body, not from the query.
    query: maybeProjectQuery,
    handle: async (call) => {
      const { spec, ...body } = validate(connectorBody, documentOf(call.body), { root: "connector" });
      const connector = await verbs.create(call.actor, {
        ...body,
        orgIdentifier: body.orgIdentifier ?? null,
        projectIdentifier: body.projectIdentifier ?? null,
        spec: {
          registryUrl: spec.registryUrl,
          providerType: spec.providerType,
          auth: { type: spec.auth.type },
          delegateSelectors: spec.delegateSelectors,
        },
      });
      return ok(call, connectorResponse(connector));
    },
  }),
  route({
    method: "GET",
    path: "/ng/api/connectors/:identifier",
    operation: "connector.get",
    access: { permission: "core_connector_view" },
    query: maybeProjectQuery,
    handle: async (call) => {
      const { orgIdentifier = null, projectIdentifier = null } = call.query;
      const key = { orgIdentifier, projectIdentifier, identifier: call.params["identifier"] ?? "" };
      return ok(call, connectorResponse(await verbs.get(call.actor, key)));
    },
  }),
];
