/** Organizations. */
import { z } from "zod";
import { ok } from "../../platform/http/response/answers.ts";
import { envelopeOf } from "../../platform/http/request/bodies.ts";
import { ifMatch } from "../../platform/http/request/if-match.ts";
import { ngPage, ngPageShape, ngWindow, sortedPageQuery } from "../../platform/http/response/pages.ts";
import { maybeText, maybeTexts } from "../../platform/http/request/queries.ts";
import { route, type Route } from "../../platform/http/routes.ts";
import { enveloped } from "../../platform/http/response/shapes.ts";
import type { CreateOrganization } from "../organizations/create.ts";
import type { DeleteOrganization } from "../organizations/delete.ts";
import type { GetOrganization } from "../organizations/get.ts";
import type { ListOrganizations } from "../organizations/list.ts";
import type { UpdateOrganization } from "../organizations/update.ts";
import { organizationBody, organizationResponse, organizationShape } from "../wire.ts";

type Operations = {
  readonly create: CreateOrganization;
  readonly get: GetOrganization;
  readonly list: ListOrganizations;
  readonly update: UpdateOrganization;
  readonly delete: DeleteOrganization;
};

const PATH = "/ng/api/organizations";
const ONE = `${PATH}/:identifier`;
const EXAMPLE = { name: "Logistics", identifier: "logistics", description: "What is on its way" };
const answer = enveloped(organizationShape);
const params = { identifier: "logistics" };
const query = z.object({});

export const organizationRoutes = (operations: Operations): readonly Route[] => [
  createRoute(operations),
  ...readRoutes(operations),
  ...changeRoutes(operations),
];

const createRoute = (operations: Operations): Route =>
  route({
    method: "POST",
    path: PATH,
    operation: "organization.create",
    access: { permission: "core_organization_create" },
    query,
    doc: {
      summary: "Create an organization",
      body: { schema: organizationBody, root: "organization", example: EXAMPLE },
      answer,
      etag: true,
    },
    handle: async (call) => {
      const body = envelopeOf(call, organizationBody, { root: "organization" });
      const organization = await operations.create(call.actor, body);
      return ok(call, organizationResponse(organization), organization.version);
    },
  });

const readRoutes = (operations: Operations): readonly Route[] => [
  route({
    method: "GET",
    path: PATH,
    operation: "organization.list",
    access: { permission: "core_organization_view" },
    query: sortedPageQuery(50).extend({ searchTerm: maybeText("searchTerm"), identifiers: maybeTexts("identifiers") }),
    doc: {
      summary: "List organizations by name, or as sortOrders says",
      answer: enveloped(ngPageShape(organizationShape)),
    },
    handle: async (call) => {
      const { searchTerm = "", identifiers } = call.query;
      const page = await operations.list(call.actor, { searchTerm, identifiers }, ngWindow(call.query));
      return ok(call, await ngPage(page, organizationResponse));
    },
  }),
  route({
    method: "GET",
    path: ONE,
    operation: "organization.get",
    access: { permission: "core_organization_view" },
    query,
    doc: { summary: "Read an organization", params: { identifier: "default" }, answer, etag: true },
    handle: async (call) => {
      const organization = await operations.get(call.actor, call.params["identifier"] ?? "");
      return ok(call, organizationResponse(organization), organization.version);
    },
  }),
];

const changeRoutes = (operations: Operations): readonly Route[] => [
  route({
    method: "PUT",
    path: ONE,
    operation: "organization.update",
    access: { permission: "core_organization_edit" },
    query,
    doc: {
      summary: "Replace an organization's name, description and tags",
      params,
      body: { schema: organizationBody, root: "organization", example: { ...EXAMPLE, name: "Transport" } },
      answer,
      etag: true,
      ifMatch: true,
    },
    handle: async (call) => {
      const body = envelopeOf(call, organizationBody, { root: "organization" });
      const identifier = call.params["identifier"] ?? "";
      const organization = await operations.update(call.actor, identifier, {
        organization: body,
        version: ifMatch(call),
      });
      return ok(call, organizationResponse(organization), organization.version);
    },
  }),
  route({
    method: "DELETE",
    path: ONE,
    operation: "organization.delete",
    access: { permission: "core_organization_delete" },
    query,
    doc: {
      summary: "Delete an organization that has no projects, with what lies in it",
      ifMatch: true,
      params,
      answer: enveloped(z.literal(true)),
    },
    handle: async (call) => {
      await operations.delete(call.actor, call.params["identifier"] ?? "", ifMatch(call));
      return ok(call, true);
    },
  }),
];
