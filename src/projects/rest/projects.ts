/** Projects. */
import { z } from "zod";
import { ok } from "../../platform/http/response/answers.ts";
import { envelopeOf } from "../../platform/http/request/bodies.ts";
import { ifMatch } from "../../platform/http/request/if-match.ts";
import { ngPage, ngPageShape, ngWindow, sortedPageQuery } from "../../platform/http/response/pages.ts";
import { maybeText, maybeTexts, orgQuery } from "../../platform/http/request/queries.ts";
import { route, type Call, type Route } from "../../platform/http/routes.ts";
import { enveloped } from "../../platform/http/response/shapes.ts";
import type { CreateProject } from "../create.ts";
import type { DeleteProject } from "../delete.ts";
import type { GetProject, ListProjects } from "../get.ts";
import { problem } from "../problems.ts";
import type { NewProject } from "../project.ts";
import type { UpdateProject } from "../update.ts";
import { modules, projectBody, projectResponse, projectShape } from "../wire.ts";

type Operations = {
  readonly create: CreateProject;
  readonly get: GetProject;
  readonly list: ListProjects;
  readonly update: UpdateProject;
  readonly delete: DeleteProject;
};

const PATH = "/ng/api/projects";
const ONE = `${PATH}/:identifier`;
const EXAMPLE = { name: "Warehouse", identifier: "warehouse" };
const answer = enveloped(projectShape);

type InOrg = Call<{ readonly orgIdentifier: string }>;

function bodyOf(call: InOrg): NewProject {
  const { modules: _, ...body } = envelopeOf(call, projectBody, { root: "project" });
  const { orgIdentifier } = call.query;
  if (body.orgIdentifier !== undefined && body.orgIdentifier !== orgIdentifier)
    throw problem("project.other_organization", [body.orgIdentifier, orgIdentifier]);
  return { ...body, orgIdentifier };
}

const identifierOf = (call: Pick<Call, "params">): string => call.params["identifier"] ?? "";

export const projectRoutes = (operations: Operations): readonly Route[] => [
  route({
    method: "POST",
    path: PATH,
    operation: "project.create",
    access: { permission: "core_project_create" },
    query: orgQuery,
    doc: {
      summary: "Create a project",
      body: { schema: projectBody, root: "project", example: EXAMPLE },
      answer,
      etag: true,
    },
    handle: async (call) => {
      const project = await operations.create(call.actor, bodyOf(call));
      return ok(call, projectResponse(project), project.version);
    },
  }),
  ...listRoutes(operations),
  route({
    method: "GET",
    path: ONE,
    operation: "project.get",
    access: { permission: "core_project_view" },
    query: orgQuery,
    doc: { summary: "Read a project", params: { identifier: "shop" }, answer, etag: true },
    handle: async (call) => {
      const project = await operations.get(call.actor, call.query.orgIdentifier, identifierOf(call));
      return ok(call, projectResponse(project), project.version);
    },
  }),
  route({
    method: "PUT",
    path: ONE,
    operation: "project.update",
    access: { permission: "core_project_edit" },
    query: orgQuery,
    doc: {
      summary: "Replace a project's name, colour, description and tags",
      params: { identifier: "warehouse" },
      body: { schema: projectBody, root: "project", example: { ...EXAMPLE, color: "#A1B2C3" } },
      answer,
      etag: true,
      ifMatch: true,
    },
    handle: async (call) => {
      const project = await operations.update(call.actor, identifierOf(call), {
        project: bodyOf(call),
        version: ifMatch(call),
      });
      return ok(call, projectResponse(project), project.version);
    },
  }),
  route({
    method: "DELETE",
    path: ONE,
    operation: "project.delete",
    access: { permission: "core_project_delete" },
    query: orgQuery,
    doc: {
      summary: "Delete a project with all that lies in it, unless something of it runs",
      ifMatch: true,
      params: { identifier: "warehouse" },
      answer: enveloped(z.literal(true)),
    },
    handle: async (call) => {
      const { orgIdentifier } = call.query;
      await operations.delete(call.actor, { orgIdentifier, identifier: identifierOf(call) }, ifMatch(call));
      return ok(call, true);
    },
  }),
];

const listQuery = sortedPageQuery(50).extend({
  searchTerm: maybeText("searchTerm"),
  identifiers: maybeTexts("identifiers"),
  moduleType: modules.optional(),
  hasModule: z.enum(["true", "false"], { error: "takes true or false" }).default("true"),
});
type Listing = Call<z.output<typeof listQuery>>;

function listRoutes(operations: Pick<Operations, "list">): readonly Route[] {
  const listed = async (call: Listing, inOrgs: readonly string[] | undefined) => {
    const { searchTerm = "", identifiers, moduleType, hasModule } = call.query;
    // Every project has every module, so the filter matches all.
    const orgIdentifiers = moduleType !== undefined && hasModule === "false" ? [] : inOrgs;
    const filter = { searchTerm, identifiers, orgIdentifiers };
    return ok(call, await ngPage(await operations.list(call.actor, filter, ngWindow(call.query)), projectResponse));
  };
  const access = { permission: "core_project_view" };
  const page = enveloped(ngPageShape(projectShape));
  return [
    route({
      method: "GET",
      path: PATH,
      operation: "project.list",
      access,
      query: listQuery.extend({ orgIdentifier: maybeText("orgIdentifier") }),
      doc: { summary: "List projects by name or as sortOrders says, of one organization or of all", answer: page },
      handle: (call) => listed(call, call.query.orgIdentifier === undefined ? undefined : [call.query.orgIdentifier]),
    }),
    route({
      method: "GET",
      path: `${PATH}/list`,
      operation: "project.list-of-organizations",
      access,
      query: listQuery.extend({ orgIdentifiers: maybeTexts("orgIdentifiers") }),
      doc: { summary: "List projects by name or as sortOrders says, of several organizations", answer: page },
      handle: (call) => listed(call, call.query.orgIdentifiers),
    }),
  ];
}
