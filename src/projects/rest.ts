import { documentOf } from "../platform/http/bodies.ts";
import { ok } from "../platform/http/answers.ts";
import { orgQuery } from "../platform/http/queries.ts";
import { route, type Route } from "../platform/http/routes.ts";
import { enveloped } from "../platform/http/shapes.ts";
import { validate } from "../platform/document/validate.ts";
import type { CreateProject } from "./create.ts";
import type { GetProject } from "./get.ts";
import { problem } from "./problems.ts";
import { projectBody, projectResponse, projectShape } from "./wire.ts";

export const projectRoutes = (verbs: { create: CreateProject; get: GetProject }): readonly Route[] => [
  route({
    method: "POST",
    path: "/ng/api/projects",
    operation: "project.create",
    access: { permission: "core_project_create" },
    query: orgQuery,
    doc: {
      summary: "Create a project",
      body: { schema: projectBody, root: "project", example: { name: "Warehouse", identifier: "warehouse" } },
      answer: enveloped(projectShape),
    },
    handle: async (call) => {
      const { modules: _, ...body } = validate(projectBody, documentOf(call.body), { root: "project" });
      const { orgIdentifier } = call.query;
      if (body.orgIdentifier !== undefined && body.orgIdentifier !== orgIdentifier) {
        throw problem("project.other_organization", [body.orgIdentifier, orgIdentifier]);
      }
      return ok(call, projectResponse(await verbs.create(call.actor, { ...body, orgIdentifier })));
    },
  }),
  route({
    method: "GET",
    path: "/ng/api/projects/:identifier",
    operation: "project.get",
    access: { permission: "core_project_view" },
    query: orgQuery,
    doc: { summary: "Read a project", params: { identifier: "shop" }, answer: enveloped(projectShape) },
    handle: async (call) =>
      ok(call, projectResponse(await verbs.get(call.actor, call.query.orgIdentifier, call.params["identifier"] ?? ""))),
  }),
];
