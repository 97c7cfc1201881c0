import { toWire } from "../../core/ids.ts";
import { ok } from "../../platform/http/response/answers.ts";
import { envelopeOf } from "../../platform/http/request/bodies.ts";
import { ngPage, ngPageShape, ngWindow, sortedPageQuery } from "../../platform/http/response/pages.ts";
import { maybeProjectQuery, maybeText } from "../../platform/http/request/queries.ts";
import { route, type Call, type Route } from "../../platform/http/routes.ts";
import { enveloped } from "../../platform/http/response/shapes.ts";
import { keyOf, pageOf, placeOf, type ScopedQuery } from "../places.ts";
import type { CreateRole } from "./create.ts";
import type { DeleteRole } from "./delete.ts";
import type { GetRole } from "./get.ts";
import type { ListRoles } from "./list.ts";
import type { UpdateRole } from "./update.ts";
import { readRole, roleBody, roleResponse, roleShape } from "./wire.ts";

type Operations = {
  readonly create: CreateRole;
  readonly update: UpdateRole;
  readonly delete: DeleteRole;
  readonly get: GetRole;
  readonly list: ListRoles;
};

const PATH = "/authz/api/roles";
const params = { identifier: "releaser" };
const example = {
  identifier: "releaser",
  name: "Releaser",
  permissions: ["core_pipeline_view", "core_pipeline_execute"],
};
const shape = enveloped(roleShape);

export function roleRoutes(operations: Operations): readonly Route[] {
  const read = (call: Call<ScopedQuery>) => readRole(placeOf(call.query), envelopeOf(call, roleBody));
  return [
    route({
      method: "POST",
      path: PATH,
      operation: "role.create",
      access: { permission: "core_role_edit" },
      query: maybeProjectQuery,
      doc: { summary: "Create a role", body: { schema: roleBody, example }, answer: shape },
      handle: async (call) =>
        ok(call, roleResponse(toWire(call.accountId), await operations.create(call.actor, read(call)))),
    }),
    route({
      method: "PUT",
      path: `${PATH}/:identifier`,
      operation: "role.update",
      access: { permission: "core_role_edit" },
      query: maybeProjectQuery,
      doc: { summary: "Replace a role of one's own", params, body: { schema: roleBody, example }, answer: shape },
      handle: async (call) => {
        const role = await operations.update(call.actor, call.params["identifier"] ?? "", read(call));
        return ok(call, roleResponse(toWire(call.accountId), role));
      },
    }),
    route({
      method: "DELETE",
      path: `${PATH}/:identifier`,
      operation: "role.delete",
      access: { permission: "core_role_delete" },
      query: maybeProjectQuery,
      doc: { summary: "Delete a role that is not assigned; answers the role that was", params, answer: shape },
      handle: async (call) =>
        ok(call, roleResponse(toWire(call.accountId), await operations.delete(call.actor, keyOf(call)))),
    }),
    ...readRoutes(operations),
  ];
}

const readRoutes = (operations: Operations): readonly Route[] => [
  route({
    method: "GET",
    path: PATH,
    operation: "role.list",
    access: { permission: "core_role_view" },
    query: maybeProjectQuery.extend(sortedPageQuery(50).shape).extend({ searchTerm: maybeText("searchTerm") }),
    doc: {
      summary: "List the roles that a scope has: the built-in ones first, then its own by name, or as sortOrders says",
      answer: enveloped(ngPageShape(roleShape)),
    },
    handle: async (call) => {
      const all = await operations.list(call.actor, placeOf(call.query), { ...call.query, ...ngWindow(call.query) });
      const page = pageOf(all, ngWindow(call.query));
      return ok(call, await ngPage(page, (role) => roleResponse(toWire(call.accountId), role)));
    },
  }),
  route({
    method: "GET",
    path: `${PATH}/:identifier`,
    operation: "role.get",
    access: { permission: "core_role_view" },
    query: maybeProjectQuery,
    doc: { summary: "Read a role", params, answer: shape },
    handle: async (call) =>
      ok(call, roleResponse(toWire(call.accountId), await operations.get(call.actor, keyOf(call)))),
  }),
];
