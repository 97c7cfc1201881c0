/** Routes of `/ng/api/secret-managers`. Secret managers belong to the account and are not connectors here. */
import { z } from "zod";
import { validate } from "../../platform/document/validate.ts";
import { ok } from "../../platform/http/response/answers.ts";
import { documentOf } from "../../platform/http/request/bodies.ts";
import { ifMatch } from "../../platform/http/request/if-match.ts";
import { ngPage, ngPageShape, ngWindow, sortedPageQuery } from "../../platform/http/response/pages.ts";
import { route, type Route } from "../../platform/http/routes.ts";
import { enveloped } from "../../platform/http/response/shapes.ts";
import type { RequirePermission } from "../find.ts";
import type { CreateManager, DeleteManager, UpdateManager } from "../managers/operations.ts";
import type { GetManager, ListManagers } from "../managers/find.ts";
import { problem } from "../problems.ts";
import { managerBody, managerOf, managerResponse, managerShape } from "../wire/manager.ts";

type Operations = {
  readonly createManager: CreateManager;
  readonly updateManager: UpdateManager;
  readonly deleteManager: DeleteManager;
  readonly getManager: GetManager;
  readonly listManagers: ListManagers;
  readonly requirePermission: RequirePermission;
};

const PATH = "/ng/api/secret-managers";
const ONE = `${PATH}/:identifier`;
const EXAMPLE = {
  identifier: "production_keys",
  name: "Keys of production",
  type: "Platform",
  spec: {},
  usageScope: {
    appEnvScopes: [{ application: { filterType: "ALL" }, environment: { filterType: "PRODUCTION_ENVIRONMENTS" } }],
  },
};
const params = { identifier: EXAMPLE.identifier };
const answer = enveloped(managerShape);
const query = z.object({});

export const managerRoutes = (operations: Operations): readonly Route[] => [
  route({
    method: "POST",
    path: PATH,
    operation: "secret-manager.create",
    access: { permission: "core_connector_edit" },
    query,
    doc: {
      summary: "Create a secret manager, with a key of its own and a usage scope that its secrets inherit",
      body: { schema: managerBody, root: "secretManager", strict: true, example: EXAMPLE },
      answer,
      etag: true,
    },
    handle: async (call) => {
      operations.requirePermission(call.actor, "core_connector_edit");
      const body = validate(managerBody, documentOf(call.body), { root: "secretManager" });
      const manager = await operations.createManager(call.actor, managerOf(body));
      return ok(call, managerResponse(manager), manager.version);
    },
  }),
  route({
    method: "PUT",
    path: ONE,
    operation: "secret-manager.update",
    access: { permission: "core_connector_edit" },
    query,
    doc: {
      summary: "Replace a secret manager's name, description, tags and usage scope; its type and spec stay",
      params,
      body: {
        schema: managerBody,
        root: "secretManager",
        strict: true,
        example: { ...EXAMPLE, name: "Keys of what is live" },
      },
      answer,
      ifMatch: true,
      etag: true,
    },
    handle: async (call) => {
      operations.requirePermission(call.actor, "core_connector_edit");
      const body = validate(managerBody, documentOf(call.body), { root: "secretManager" });
      const identifier = call.params["identifier"] ?? "";
      if (body.identifier !== identifier)
        throw problem("secret.other_manager_identifier", [identifier, body.identifier]);
      const manager = await operations.updateManager(call.actor, managerOf(body), ifMatch(call));
      return ok(call, managerResponse(manager), manager.version);
    },
  }),
  route({
    method: "DELETE",
    path: ONE,
    operation: "secret-manager.delete",
    access: { permission: "core_connector_delete" },
    query,
    doc: {
      summary: "Delete a secret manager that no secret uses",
      params,
      answer: enveloped(z.literal(true)),
      ifMatch: true,
    },
    handle: async (call) => {
      await operations.deleteManager(call.actor, call.params["identifier"] ?? "", ifMatch(call));
      return ok(call, true);
    },
  }),
  ...readingRoutes(operations),
];

const readingRoutes = (operations: Operations): readonly Route[] => [
  route({
    method: "GET",
    path: PATH,
    operation: "secret-manager.list",
    access: { permission: "core_secret_view" },
    query: sortedPageQuery(100),
    doc: {
      summary: "List the secret managers of the account, by name or as sortOrders says",
      answer: enveloped(ngPageShape(managerShape)),
    },
    handle: async (call) => {
      const page = await operations.listManagers(call.actor, ngWindow(call.query));
      return ok(call, await ngPage(page, managerResponse));
    },
  }),
  route({
    method: "GET",
    path: ONE,
    operation: "secret-manager.get",
    access: { permission: "core_secret_view" },
    query,
    doc: { summary: "Read a secret manager", params: { identifier: "platformSecretManager" }, answer, etag: true },
    handle: async (call) => {
      const identifier = call.params["identifier"] ?? "";
      const manager = await operations.getManager(call.actor, { by: "identifier", identifier });
      return ok(call, managerResponse(manager), manager.version);
    },
  }),
];
