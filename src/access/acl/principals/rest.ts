/** Who may do what in a scope, and why. */
import { z } from "zod";
import { toWire } from "../../../core/ids.ts";
import { ok } from "../../../platform/http/response/answers.ts";
import { ngPage, ngPageQuery, ngPageShape, ngWindow } from "../../../platform/http/response/pages.ts";
import { maybeProjectQuery, maybeText, maybeTexts } from "../../../platform/http/request/queries.ts";
import { route, type Route } from "../../../platform/http/routes.ts";
import { enveloped, wireId } from "../../../platform/http/response/shapes.ts";
import { PRINCIPAL_TYPES } from "../../assignments/assignment.ts";
import { placeOf } from "../../places.ts";
import { problem } from "../../problems.ts";
import type { Combination } from "../../store/principals.ts";
import type { ExplainPermission, Reason } from "./explain.ts";
import type { ListedPrincipal, ListPrincipals } from "./list.ts";

type Operations = { readonly list: ListPrincipals; readonly explain: ExplainPermission };

const VIEW = { permission: "core_role_view" };
const level = z.enum(["account", "organization", "project"]);
const principalType = z.enum(PRINCIPAL_TYPES, { error: `takes ${PRINCIPAL_TYPES.join(", ")}` });
const place = { orgIdentifier: z.string().nullable(), projectIdentifier: z.string().nullable() };
const hiddenLevels = z
  .array(level)
  .describe("Levels around the scope whose role assignments may count here and that the caller may not see.");

const assignmentShape = z.strictObject({
  identifier: z.string(),
  ...place,
  roleIdentifier: z.string(),
  roleName: z.string().nullable().describe("Null for a built-in role."),
  roleScopeLevel: level,
  resourceGroupIdentifier: z.string(),
  resourceGroupName: z.string().nullable().describe("Null for a built-in resource group."),
});

const assignmentWire = (
  identifier: string,
  { org, project, role, roleName, roleLevel, resourceGroup, resourceGroupName }: Combination,
): z.output<typeof assignmentShape> => ({
  ...{ identifier, orgIdentifier: org, projectIdentifier: project },
  ...{ roleIdentifier: role, roleName, roleScopeLevel: roleLevel },
  ...{ resourceGroupIdentifier: resourceGroup, resourceGroupName },
});

const principalShape = z.strictObject({
  principal: z.strictObject({
    type: z.enum(PRINCIPAL_TYPES),
    identifier: z.string().describe("As role assignments name it."),
    uuid: wireId.nullable().describe("Null for the groups of all users."),
    scopeLevel: level,
    ...place,
    name: z.string(),
    email: z.string().nullable(),
    active: z.boolean().describe("False for a deactivated user."),
  }),
  permissions: z.array(
    z.strictObject({
      permission: z.string(),
      resourceType: z.string(),
      allResources: z.boolean().describe("False if it counts for single resources of the scope only."),
    }),
  ),
  roleAssignments: z.array(assignmentShape).describe("The oldest 20."),
  roleAssignmentCount: z.int(),
});

const principalWire = (one: ListedPrincipal): z.output<typeof principalShape> => ({
  principal: {
    ...{ type: one.type, identifier: one.identifier, uuid: one.id && toWire(one.id), scopeLevel: one.level },
    ...{ orgIdentifier: one.orgIdentifier, projectIdentifier: one.projectIdentifier },
    ...{ name: one.name, email: one.email, active: one.isActive },
  },
  permissions: one.permissions.map(({ identifier, resourceType, isOnAll }) => ({
    ...{ permission: identifier, resourceType, allResources: isOnAll },
  })),
  roleAssignments: one.first.map(({ identifier, combination }) => assignmentWire(identifier, combination)),
  roleAssignmentCount: one.assignments,
});

const listRoute = (operations: Operations): Route =>
  route({
    method: "GET",
    path: "/authz/api/acl/principals",
    operation: "access.list-principals",
    access: VIEW,
    query: maybeProjectQuery.extend(ngPageQuery(50, 100).shape).extend({
      permission: maybeText("permission"),
      resourceType: maybeText("resourceType"),
      resourceIdentifier: maybeText("resourceIdentifier"),
      principalType: maybeTexts("principalType").pipe(z.array(principalType).optional()),
      searchTerm: maybeText("searchTerm"),
    }),
    doc: {
      summary: "List who may do what in a scope, with the role assignments that permit it",
      description:
        "With a permission, those who have it; with a resource, those who have it on that resource. Members of user groups are not listed.",
      queryExample: { permission: "core_role_view", principalType: "USER" },
      answer: enveloped(z.strictObject({ hiddenLevels, principals: ngPageShape(principalShape) })),
    },
    handle: async (call) => {
      const { permission, resourceType, resourceIdentifier, principalType: types, searchTerm } = call.query;
      const { hidden, page } = await operations.list(call.actor, placeOf(call.query), {
        ...{ permission, resourceType, resourceIdentifier, types, searchTerm },
        window: ngWindow(call.query),
      });
      return ok(call, { hiddenLevels: hidden, principals: await ngPage(page, principalWire) });
    },
  });

const reasonShape = z.strictObject({
  roleAssignment: assignmentShape,
  principal: z
    .strictObject({
      type: z.enum(PRINCIPAL_TYPES),
      identifier: z.string(),
      scopeLevel: level,
      name: z.string().nullable().describe("Of a user group; null for the groups of all users."),
    })
    .describe("To which the role is assigned: the asked one, or a user group that it is in."),
  effect: z
    .enum(["PERMITS", "OTHER_RESOURCES", "NONE"])
    .describe(
      "OTHER_RESOURCES: it permits this on single resources of the scope. NONE: its resource group does not have what was asked about.",
    ),
});

const EFFECTS = { all: "PERMITS", some: "OTHER_RESOURCES", none: "NONE" } as const;

const reasonWire = (reason: Reason): z.output<typeof reasonShape> => ({
  roleAssignment: assignmentWire(reason.identifier, reason),
  principal: {
    ...{ type: reason.principalType, identifier: reason.principalIdentifier, scopeLevel: reason.principalLevel },
    name: reason.groupName,
  },
  effect: EFFECTS[reason.extent],
});

const explanationShape = z.strictObject({
  permission: z.string(),
  resourceType: z.string(),
  permitted: z.boolean().nullable().describe("Null if only an assignment of a hidden level could permit it."),
  hiddenLevels,
  reasons: z.array(reasonShape).describe("The role assignments of the principal whose roles have the permission."),
});

const explainRoute = (operations: Operations): Route =>
  route({
    method: "GET",
    path: "/authz/api/acl/explanation",
    operation: "access.explain",
    access: VIEW,
    query: maybeProjectQuery.extend({
      permission: z.string({ error: "is required" }).max(128, "takes at most 128 characters"),
      resourceIdentifier: maybeText("resourceIdentifier"),
      principalType: principalType.optional(),
      principalIdentifier: maybeText("principalIdentifier"),
      principalScopeLevel: level.optional(),
    }),
    doc: {
      summary: "Explain why a principal may do something in a scope, or may not",
      description:
        "The caller, or another user, user group or service account. Everyone may ask about themselves; about others it needs core_role_view in the scope.",
      queryExample: { permission: "core_pipeline_view" },
      answer: enveloped(explanationShape),
    },
    handle: async (call) => {
      const { permission, resourceIdentifier, principalType: type, principalIdentifier: identifier } = call.query;
      const { principalScopeLevel } = call.query;
      if ((type === undefined) !== (identifier === undefined)) throw problem("access.half_principal");
      const principal = type && identifier ? { type, identifier, level: principalScopeLevel } : undefined;
      const asked = { permission, resourceIdentifier, principal };
      const found = await operations.explain(call.actor, placeOf(call.query), asked);
      return ok(call, {
        ...{ permission: found.facts.identifier, resourceType: found.facts.resourceType },
        ...{ permitted: found.isPermitted, hiddenLevels: found.hidden, reasons: found.reasons.map(reasonWire) },
      });
    },
  });

export const principalRoutes = (operations: Operations): readonly Route[] => [
  listRoute(operations),
  explainRoute(operations),
];
