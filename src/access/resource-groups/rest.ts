import { z } from "zod";
import { toWire } from "../../core/ids.ts";
import { ok } from "../../platform/http/response/answers.ts";
import { envelopeOf } from "../../platform/http/request/bodies.ts";
import { ngPage, ngPageShape, ngWindow, sortedPageQuery } from "../../platform/http/response/pages.ts";
import { maybeProjectQuery, maybeText } from "../../platform/http/request/queries.ts";
import { route, type Answer, type Call, type Route } from "../../platform/http/routes.ts";
import { enveloped } from "../../platform/http/response/shapes.ts";
import { keyOf, pageOf, placeIn, placeOf, type ScopedQuery } from "../places.ts";
import type { ResourceGroup } from "./resource-group.ts";
import type { CreateResourceGroup } from "./create.ts";
import type { DeleteResourceGroup } from "./delete.ts";
import type { GetResourceGroup } from "./get.ts";
import type { ListResourceGroups } from "./list.ts";
import { listResourceTypes } from "./list-types.ts";
import type { UpdateResourceGroup } from "./update.ts";
import { filterBody, readResourceGroup, resourceGroupBody, resourceGroupResponse, resourceGroupShape } from "./wire.ts";

type Operations = {
  readonly create: CreateResourceGroup;
  readonly update: UpdateResourceGroup;
  readonly delete: DeleteResourceGroup;
  readonly get: GetResourceGroup;
  readonly list: ListResourceGroups;
};

/** Clients use two paths for the same resource. `example` is the identifier in the examples of the API document. */
type Address = { readonly path: string; readonly noun: string; readonly example: string };
const ADDRESSES: readonly Address[] = [
  { path: "/resourcegroup/api/v2/resourcegroup", noun: "resource-group", example: "cluster_things" },
  { path: "/authz/api/v2/resourcegroup", noun: "resource-group-v2", example: "registry_things" },
];

const exampleOf = (identifier: string) => ({
  identifier,
  name: "Cluster things",
  includedScopes: [{ filter: "EXCLUDING_CHILD_SCOPES" }],
  resourceFilter: {
    includeAllResources: false,
    resources: [{ resourceType: "CONNECTOR", identifiers: ["cluster"] }, { resourceType: "SECRET" }],
  },
});
const shape = enveloped(resourceGroupShape);
const schema = z.strictObject({ resourceGroup: resourceGroupBody });
const bodyOf = ({ example }: Address) => ({
  schema: resourceGroupBody,
  root: "resourceGroup",
  example: exampleOf(example),
});
const pages = maybeProjectQuery.extend(sortedPageQuery(50).shape);

function read(call: Call<ScopedQuery>) {
  const { resourceGroup } = envelopeOf(call, schema);
  for (const scope of resourceGroup.includedScopes ?? [])
    placeIn({ query: {}, accountId: call.accountId }, { accountIdentifier: scope.accountIdentifier });
  return readResourceGroup(placeIn(call, resourceGroup), resourceGroup);
}

const answer = (call: Call, group: ResourceGroup): Answer =>
  ok(call, resourceGroupResponse(toWire(call.accountId), group));

export const resourceGroupRoutes = (operations: Operations): readonly Route[] => [
  ...ADDRESSES.flatMap((address) => [...changeRoutes(operations, address), ...readRoutes(operations, address)]),
  typesRoute,
];

const changeRoutes = (operations: Operations, address: Address): readonly Route[] => [
  route({
    method: "POST",
    path: address.path,
    operation: `${address.noun}.create`,
    access: { permission: "core_resourcegroup_edit" },
    query: maybeProjectQuery,
    doc: { summary: "Create a resource group", body: bodyOf(address), answer: shape },
    handle: async (call) => answer(call, await operations.create(call.actor, read(call))),
  }),
  route({
    method: "PUT",
    path: `${address.path}/:identifier`,
    operation: `${address.noun}.update`,
    access: { permission: "core_resourcegroup_edit" },
    query: maybeProjectQuery,
    doc: {
      summary: "Replace a resource group of one's own",
      params: { identifier: address.example },
      body: bodyOf(address),
      answer: shape,
    },
    handle: async (call) =>
      answer(call, await operations.update(call.actor, call.params["identifier"] ?? "", read(call))),
  }),
  route({
    method: "DELETE",
    path: `${address.path}/:identifier`,
    operation: `${address.noun}.delete`,
    access: { permission: "core_resourcegroup_delete" },
    query: maybeProjectQuery,
    doc: {
      summary: "Delete a resource group that nothing is assigned over",
      params: { identifier: address.example },
      answer: enveloped(z.literal(true)),
    },
    handle: async (call) => {
      await operations.delete(call.actor, keyOf(call));
      return ok(call, true);
    },
  }),
];

const typesRoute: Route = route({
  method: "GET",
  path: "/resourcegroup/api/resourcetype",
  operation: "resource-group.list-types",
  access: { permission: "core_resourcegroup_view" },
  query: maybeProjectQuery,
  doc: {
    summary: "The types of resources that a resource group may name",
    answer: enveloped(z.strictObject({ resourceTypes: z.array(z.strictObject({ name: z.string() })) })),
  },
  handle: async (call) => {
    const types = listResourceTypes(call.actor, placeOf(call.query));
    return ok(call, { resourceTypes: types.map((name) => ({ name })) });
  },
});

const readRoutes = (operations: Operations, address: Address): readonly Route[] => [
  route({
    method: "GET",
    path: address.path,
    operation: `${address.noun}.list`,
    access: { permission: "core_resourcegroup_view" },
    query: pages.extend({ searchTerm: maybeText("searchTerm") }),
    doc: {
      summary:
        "List the resource groups that a scope has: the built-in ones first, then its own by name, or as sortOrders says",
      answer: enveloped(ngPageShape(resourceGroupShape)),
    },
    handle: async (call) => {
      const window = ngWindow(call.query);
      const asked = { searchTerm: call.query.searchTerm, order: window.order };
      const page = pageOf(await operations.list(call.actor, placeOf(call.query), asked), window);
      return ok(call, await ngPage(page, (group) => resourceGroupResponse(toWire(call.accountId), group)));
    },
  }),
  route({
    method: "POST",
    path: `${address.path}/filter`,
    operation: `${address.noun}.list-filtered`,
    access: { permission: "core_resourcegroup_view" },
    query: pages,
    doc: {
      summary: "List resource groups by a filter",
      body: { schema: filterBody, example: { managedFilter: "ONLY_CUSTOM" } },
      answer: enveloped(ngPageShape(resourceGroupShape)),
    },
    handle: async (call) => {
      const asked = envelopeOf(call, filterBody);
      const managed = { NO_FILTER: undefined, ONLY_MANAGED: true, ONLY_CUSTOM: false }[
        asked.managedFilter ?? "NO_FILTER"
      ];
      const all = await operations.list(call.actor, placeIn(call, asked), {
        searchTerm: asked.searchTerm ?? undefined,
        identifiers: asked.identifierFilter?.length ? asked.identifierFilter : undefined,
        platformManaged: managed,
        order: call.query.sortOrders,
      });
      const page = pageOf(all, ngWindow(call.query));
      return ok(call, await ngPage(page, (group) => resourceGroupResponse(toWire(call.accountId), group)));
    },
  }),
  route({
    method: "GET",
    path: `${address.path}/:identifier`,
    operation: `${address.noun}.get`,
    access: { permission: "core_resourcegroup_view" },
    query: maybeProjectQuery,
    doc: { summary: "Read a resource group", params: { identifier: address.example }, answer: shape },
    handle: async (call) => answer(call, await operations.get(call.actor, keyOf(call))),
  }),
];
