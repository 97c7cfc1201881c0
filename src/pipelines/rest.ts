import { ok } from "../platform/http/answers.ts";
import { formatOf, textOf } from "../platform/http/bodies.ts";
import { projectQuery } from "../platform/http/queries.ts";
import { route, type Route } from "../platform/http/routes.ts";
import type { CreatePipeline } from "./create.ts";
import type { GetPipeline } from "./get.ts";

const NO_GIT = { objectId: null, branch: null, repoIdentifier: null, rootFolder: null, filePath: null };

export const pipelineRoutes = (verbs: { create: CreatePipeline; get: GetPipeline }): readonly Route[] => [
  route({
    method: "POST",
    path: "/pipeline/api/pipelines",
    operation: "pipeline.create",
    access: { permission: "core_pipeline_edit" },
    query: projectQuery,
    handle: async (call) => {
      const pipeline = await verbs.create(call.actor, call.query, textOf(call.body) ?? "", formatOf(call.body));
      return ok(call, pipeline.identifier);
    },
  }),
  route({
    method: "GET",
    path: "/pipeline/api/pipelines/:identifier",
    operation: "pipeline.get",
    access: { permission: "core_pipeline_view" },
    query: projectQuery,
    handle: async (call) => {
      const pipeline = await verbs.get(call.actor, call.query, call.params["identifier"] ?? "");
      return ok(call, {
        yamlPipeline: pipeline.yaml,
        resolvedTemplatesPipelineYaml: pipeline.yaml,
        version: pipeline.version,
        gitDetails: NO_GIT,
        entityValidityDetails: { valid: true, invalidYaml: null },
        modules: ["CD", "PMS"],
      });
    },
  }),
];
