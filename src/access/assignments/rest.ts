import { z } from "zod";
import { toWire } from "../../core/ids.ts";
import { ok } from "../../platform/http/response/answers.ts";
import { envelopeOf } from "../../platform/http/request/bodies.ts";
import { ngPage, ngPageShape, ngWindow, sortedPageQuery } from "../../platform/http/response/pages.ts";
import { maybeProjectQuery } from "../../platform/http/request/queries.ts";
import { route, type Route } from "../../platform/http/routes.ts";
import { enveloped } from "../../platform/http/response/shapes.ts";
import { keyOf, placeOf } from "../places.ts";
import { resourceGroupResponse, resourceGroupShape } from "../resource-groups/wire.ts";
import type { ListResourceGroups } from "../resource-groups/list.ts";
import { roleResponse, roleShape } from "../roles/wire.ts";
import type { ListRoles } from "../roles/list.ts";
import type { CreateRoleAssignments } from "./create.ts";
import type { DeleteRoleAssignment } from "./delete.ts";
import type { GetRoleAssignment } from "./get.ts";
import type { ListRoleAssignments } from "./list.ts";
import type { ValidateRoleAssignment } from "./validate.ts";
import * as wire from "./wire.ts";

type Operations = {
  readonly create: CreateRoleAssignments;
  readonly validate: ValidateRoleAssignment;
  readonly delete: DeleteRoleAssignment;
  readonly get: GetRoleAssignment;
  readonly list: ListRoleAssignments;
};
/** Lists what role assignments name. */
type ReferencedLists = { readonly listRoles: ListRoles; readonly listResourceGroups: ListResourceGroups };

const PATH = "/authz/api/roleassignments";
/**
 * One of three permissions, depending on the type of the principal: that of the example. The operation checks the right
 * one.
 */
const manageAccess = { permission: "core_usergroup_manage" };
const viewAccess = { permission: "core_role_view" };
const shape = enveloped(wire.assignmentShape);
const pages = maybeProjectQuery.extend(sortedPageQuery(50, ["identifier", "createdAt", "lastModifiedAt"]).shape);
const everybody = {
  resourceGroupIdentifier: "_all_account_level_resources",
  roleIdentifier: "_account_viewer",
  principal: { identifier: "_account_all_users", type: "USER_GROUP", scopeLevel: "account" },
  disabled: true,
};
const params = { identifier: "guests" };

export const assignmentRoutes = (operations: Operations, lists: ReferencedLists): readonly Route[] => [
  ...createRoutes(operations),
  deleteRoute(operations),
  ...readingRoutes(operations),
  aggregateRoute(operations, lists),
];

const createRoutes = (operations: Operations): readonly Route[] => [
  route({
    method: "POST",
    path: PATH,
    operation: "role-assignment.create",
    access: manageAccess,
    query: maybeProjectQuery,
    doc: {
      summary: "Give a person, a user group or a service account a role over a resource group",
      body: { schema: wire.assignmentBody, example: { ...everybody, identifier: params.identifier } },
      answer: shape,
    },
    handle: async (call) => {
      const input = wire.readAssignment(placeOf(call.query), envelopeOf(call, wire.assignmentBody));
      const [made] = await operations.create(call.actor, [input]);
      return ok(call, made && wire.assignmentResponse(toWire(call.accountId), made));
    },
  }),
  route({
    method: "POST",
    path: `${PATH}/multi`,
    operation: "role-assignment.create-many",
    access: manageAccess,
    query: maybeProjectQuery,
    doc: {
      summary: "Several role assignments at once: all of them or none",
      queryExample: { orgIdentifier: "default" },
      body: {
        schema: wire.manyBody,
        example: {
          roleAssignments: [
            {
              resourceGroupIdentifier: "_all_organization_level_resources",
              roleIdentifier: "_organization_viewer",
              principal: { ...everybody.principal },
              disabled: true,
            },
          ],
        },
      },
      answer: enveloped(z.array(wire.assignmentShape)),
    },
    handle: async (call) => {
      const { roleAssignments } = envelopeOf(call, wire.manyBody);
      const inputs = roleAssignments.map((body) => wire.readAssignment(placeOf(call.query), body));
      const made = await operations.create(call.actor, inputs);
      return ok(
        call,
        made.map((one) => wire.assignmentResponse(toWire(call.accountId), one)),
      );
    },
  }),
  route({
    method: "POST",
    path: `${PATH}/validate`,
    operation: "role-assignment.validate",
    access: manageAccess,
    query: maybeProjectQuery,
    doc: {
      summary: "Whether a role assignment could be made; a refusal is that of making it",
      body: { schema: wire.validateBody, example: { roleAssignment: everybody } },
      answer: enveloped(z.strictObject({ valid: z.literal(true) })),
    },
    handle: async (call) => {
      const { roleAssignment } = envelopeOf(call, wire.validateBody);
      await operations.validate(call.actor, wire.readAssignment(placeOf(call.query), roleAssignment));
      return ok(call, { valid: true });
    },
  }),
];

const deleteRoute = (operations: Operations): Route =>
  route({
    method: "DELETE",
    path: `${PATH}/:identifier`,
    operation: "role-assignment.delete",
    // The type of an unknown assignment's principal is unknown.
    access: { permission: "core_user_manage" },
    query: maybeProjectQuery,
    doc: { summary: "Take a role away again; answers the assignment that was", params, answer: shape },
    handle: async (call) =>
      ok(call, wire.assignmentResponse(toWire(call.accountId), await operations.delete(call.actor, keyOf(call)))),
  });

function readingRoutes(operations: Operations): readonly Route[] {
  const filtered = (path: string, operation: string): Route =>
    route({
      method: "POST",
      path,
      operation,
      access: viewAccess,
      query: pages,
      doc: {
        summary: "List the role assignments of a scope by a filter",
        body: { schema: wire.filterBody, required: false, example: { roleFilter: ["_account_admin"] } },
        answer: enveloped(ngPageShape(wire.assignmentShape)),
      },
      handle: async (call) => {
        const body = call.body.bytes.length === 0 ? {} : envelopeOf(call, wire.filterBody);
        const asked = { filter: wire.filterOf(body), ...ngWindow(call.query) };
        const found = await operations.list(call.actor, placeOf(call.query), asked);
        return ok(call, await ngPage(found, (one) => wire.assignmentResponse(toWire(call.accountId), one)));
      },
    });
  return [
    filtered(`${PATH}/filter`, "role-assignment.list-filtered"),
    filtered(`${PATH}/v2/filter`, "role-assignment.list-filtered-v2"),
    route({
      method: "GET",
      path: PATH,
      operation: "role-assignment.list",
      access: viewAccess,
      query: pages,
      doc: {
        summary: "List the role assignments of a scope, the oldest first",
        answer: enveloped(ngPageShape(wire.assignmentShape)),
      },
      handle: async (call) => {
        const found = await operations.list(call.actor, placeOf(call.query), { filter: {}, ...ngWindow(call.query) });
        return ok(call, await ngPage(found, (one) => wire.assignmentResponse(toWire(call.accountId), one)));
      },
    }),
    route({
      method: "GET",
      path: `${PATH}/:identifier`,
      operation: "role-assignment.get",
      access: viewAccess,
      query: maybeProjectQuery,
      doc: { summary: "Read a role assignment", params, answer: shape },
      handle: async (call) =>
        ok(call, wire.assignmentResponse(toWire(call.accountId), await operations.get(call.actor, keyOf(call)))),
    }),
  ];
}

const aggregateShape = z.strictObject({
  scope: wire.scopeShape,
  roleAssignments: z.array(wire.assignmentShape.shape.roleAssignment),
  roles: z.array(roleShape),
  resourceGroups: z.array(resourceGroupShape),
});

const aggregateRoute = (operations: Operations, { listRoles, listResourceGroups }: ReferencedLists): Route =>
  route({
    method: "POST",
    path: `${PATH}/aggregate`,
    operation: "role-assignment.aggregate",
    access: viewAccess,
    query: maybeProjectQuery,
    doc: {
      summary: "The role assignments of a scope with the roles and resource groups that they name",
      body: { schema: wire.filterBody, required: false, example: { principalTypeFilter: ["USER"] } },
      answer: enveloped(aggregateShape),
    },
    handle: async (call) => {
      const body = call.body.bytes.length === 0 ? {} : envelopeOf(call, wire.filterBody);
      const [place, account] = [placeOf(call.query), toWire(call.accountId)];
      const asked = { filter: wire.filterOf(body), limit: 1_000, offset: 0 };
      const { items } = await operations.list(call.actor, place, asked);
      const named = (what: readonly string[]) => (one: { readonly identifier: string }) =>
        what.includes(one.identifier);
      const roleNames = items.map(({ role }) => role.identifier);
      const groupNames = items.map(({ resourceGroup }) => resourceGroup.identifier);
      return ok(call, {
        scope: wire.scopeResponse(account, place),
        roleAssignments: items.map((one) => wire.assignmentResponse(account, one).roleAssignment),
        roles: (await listRoles(call.actor, place)).filter(named(roleNames)).map((one) => roleResponse(account, one)),
        resourceGroups: (await listResourceGroups(call.actor, place, {}))
          .filter(named(groupNames))
          .map((one) => resourceGroupResponse(account, one)),
      });
    },
  });
