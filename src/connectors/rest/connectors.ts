import { z } from "zod";
import { ok } from "../../platform/http/response/answers.ts";
import { documentOf, envelopeOf } from "../../platform/http/request/bodies.ts";
import { ifMatch } from "../../platform/http/request/if-match.ts";
import { ngPage, ngPageShape, ngWindow, sortedPageQuery } from "../../platform/http/response/pages.ts";
import { flag, maybeProjectQuery, maybeText } from "../../platform/http/request/queries.ts";
import { route, type Call, type Route } from "../../platform/http/routes.ts";
import { enveloped } from "../../platform/http/response/shapes.ts";
import type { ConnectorKey, NewConnector } from "../connector.ts";
import type { CreateConnector } from "../create.ts";
import type { DeleteConnector } from "../delete.ts";
import { filterBody, filterOf, intersectTypes } from "../list/filter.ts";
import type { GetConnector, IsIdentifierFree } from "../get.ts";
import type { ListConnectors } from "../list/list.ts";
import { problem } from "../problems.ts";
import { CATEGORIES } from "../types/type.ts";
import { PATH, placeOf, type ScopedCall } from "./query.ts";
import type { TestConnection } from "../connection-tests/run.ts";
import type { UpdateConnector } from "../update.ts";
import { connectorBody, connectorResponse, connectorShape, readConnector, testResponse, testShape } from "../wire.ts";

type Operations = {
  readonly create: CreateConnector;
  readonly update: UpdateConnector;
  readonly delete: DeleteConnector;
  readonly get: GetConnector;
  readonly list: ListConnectors;
  readonly isIdentifierFree: IsIdentifierFree;
};

const keyOf = (call: ScopedCall): ConnectorKey => ({
  ...placeOf(call),
  identifier: call.params["identifier"] ?? "",
});

/** Reads the connector in the body. Throws `connector.other_scope` if the query names another scope. */
function connectorIn(call: ScopedCall & Pick<Call, "body">): NewConnector {
  const connector = readConnector(documentOf(call.body, { orText: true }), call.onIgnored);
  for (const field of ["orgIdentifier", "projectIdentifier"] as const) {
    const [here, there] = [connector[field], call.query[field]];
    if (here !== null && there !== undefined && here !== there)
      throw problem("connector.other_scope", [field, here, there]);
  }
  return connector;
}

const EXAMPLE = {
  name: "Images",
  identifier: "images",
  type: "ContainerRegistry",
  spec: { registryUrl: "https://registry.example.com/v2/", providerType: "PublicHosted", auth: { type: "Anonymous" } },
};
/** Accepted media types. */
const TYPES = ["application/json", "text/yaml", "application/yaml", "text/plain", "text/html"];
const params = { identifier: "images" };
const pages = maybeProjectQuery.extend(sortedPageQuery(100).shape).extend({ searchTerm: maybeText("searchTerm") });
const page = enveloped(ngPageShape(connectorShape));

export const connectorRoutes = (operations: Operations): readonly Route[] => [
  ...writingRoutes(operations),
  ...listRoutes(operations),
  route({
    method: "GET",
    path: `${PATH}/validateUniqueIdentifier`,
    operation: "connector.validate-identifier",
    access: { permission: "core_connector_view" },
    query: maybeProjectQuery.extend({ identifier: z.string({ error: "is required" }).min(1).max(128) }),
    doc: {
      summary: "Whether a new connector may have an identifier",
      queryExample: { identifier: "other" },
      answer: enveloped(z.boolean()),
    },
    handle: async (call) => {
      const { identifier } = call.query;
      return ok(call, await operations.isIdentifierFree(call.actor, { ...placeOf(call), identifier }));
    },
  }),
  route({
    method: "GET",
    path: `${PATH}/:identifier`,
    operation: "connector.get",
    access: { permission: "core_connector_view" },
    query: maybeProjectQuery,
    doc: { summary: "Read a connector", params, answer: enveloped(connectorShape), etag: true },
    handle: async (call) => {
      const connector = await operations.get(call.actor, keyOf(call));
      return ok(call, connectorResponse(connector), connector.version);
    },
  }),
];

const writingRoutes = (operations: Operations): readonly Route[] => [
  route({
    method: "POST",
    path: PATH,
    operation: "connector.create",
    access: { permission: "core_connector_edit" },
    // The scope comes from the body; the query may repeat it.
    query: maybeProjectQuery,
    doc: {
      summary: "Create a connector in the scope that the body names",
      body: { schema: connectorBody, root: "connector", example: EXAMPLE, types: TYPES },
      answer: enveloped(connectorShape),
      etag: true,
    },
    handle: async (call) => {
      const connector = await operations.create(call.actor, connectorIn(call));
      return ok(call, connectorResponse(connector), connector.version);
    },
  }),
  route({
    method: "PUT",
    path: PATH,
    operation: "connector.update",
    access: { permission: "core_connector_edit" },
    query: maybeProjectQuery,
    doc: {
      summary: "Replace the connector that scope and identifier in the body name",
      body: { schema: connectorBody, root: "connector", example: { ...EXAMPLE, name: "Our images" }, types: TYPES },
      answer: enveloped(connectorShape),
      etag: true,
      ifMatch: true,
    },
    handle: async (call) => {
      const document = connectorIn(call);
      const connector = await operations.update(call.actor, document, ifMatch(call));
      return ok(call, connectorResponse(connector), connector.version);
    },
  }),
  route({
    method: "DELETE",
    path: `${PATH}/:identifier`,
    operation: "connector.delete",
    access: { permission: "core_connector_delete" },
    query: maybeProjectQuery.extend({ forceDelete: flag }),
    doc: {
      summary: "Delete a connector; with forceDelete also one that is used",
      ifMatch: true,
      params,
      answer: enveloped(z.literal(true)),
    },
    handle: async (call) => {
      const how = { version: ifMatch(call), force: call.query.forceDelete };
      await operations.delete(call.actor, keyOf(call), how);
      return ok(call, true);
    },
  }),
];

const listRoutes = (operations: Operations): readonly Route[] => [
  route({
    method: "GET",
    path: PATH,
    operation: "connector.list",
    access: { permission: "core_connector_view" },
    query: pages.extend({
      type: maybeText("type"),
      category: z.enum(CATEGORIES, { error: `takes one of ${CATEGORIES.join(", ")}` }).optional(),
      source_category: z.never({ error: "is not supported" }).optional(),
    }),
    doc: { summary: "List the connectors of a scope by name, or as sortOrders says", answer: page },
    handle: async (call) => {
      const { searchTerm, type, category } = call.query;
      const types = intersectTypes(
        type === undefined ? undefined : [type],
        category === undefined ? undefined : [category],
      );
      const found = await operations.list(call.actor, placeOf(call), {
        filter: { searchTerm, types },
        withOuter: false,
        window: ngWindow(call.query),
      });
      return ok(call, await ngPage(found, connectorResponse));
    },
  }),
  route({
    method: "POST",
    path: `${PATH}/listV2`,
    operation: "connector.list-filtered",
    access: { permission: "core_connector_view" },
    query: pages.extend({
      includeAllConnectorsAvailableAtScope: flag,
      filterIdentifier: z.never({ error: "is not supported; send the filter itself" }).optional(),
    }),
    doc: {
      summary: "List connectors by a filter, by name or as sortOrders says",
      body: { schema: filterBody, required: false, example: { filterType: "Connector", types: ["ContainerRegistry"] } },
      answer: page,
    },
    handle: async (call) => {
      const empty = call.body.bytes.length === 0;
      const body = empty ? { filterType: "Connector" as const } : envelopeOf(call, filterBody);
      const { searchTerm, includeAllConnectorsAvailableAtScope } = call.query;
      const found = await operations.list(call.actor, placeOf(call), {
        filter: filterOf(body, searchTerm),
        withOuter: includeAllConnectorsAvailableAtScope,
        window: ngWindow(call.query),
      });
      return ok(call, await ngPage(found, connectorResponse));
    },
  }),
];

export const testRoutes = (test: TestConnection): readonly Route[] => [
  route({
    method: "POST",
    path: `${PATH}/testConnection/:identifier`,
    operation: "connector.test",
    access: { permission: "core_connector_access" },
    query: maybeProjectQuery,
    doc: {
      summary: "Connect as a connector says; what is wrong with the connection is an answer, too",
      params,
      answer: enveloped(testShape),
    },
    handle: async (call) => ok(call, testResponse(await test(call.actor, keyOf(call)))),
  }),
];
