import { z } from "zod";
import { toWire } from "../../core/ids.ts";
import { scopeOf, within } from "../../core/reference.ts";
import { ok } from "../../platform/http/response/answers.ts";
import { envelopeOf } from "../../platform/http/request/bodies.ts";
import { maybeProjectQuery } from "../../platform/http/request/queries.ts";
import { LARGE_BODY, route, type Route } from "../../platform/http/routes.ts";
import { enveloped } from "../../platform/http/response/shapes.ts";
import { permissions, resourceTypes, type PermissionFacts } from "../grants/permission.ts";
import { authorize } from "../grants/permits.ts";
import { placeIn, placeOf } from "../places.ts";
import type { AskAccess } from "./acl.ts";
import { listOwnPermissions } from "./own.ts";

const text = z.string().max(128).nullish();
const scopeBody = z.strictObject({ accountIdentifier: text, orgIdentifier: text, projectIdentifier: text });
const principalBody = z.strictObject({
  principalIdentifier: z.string().max(128),
  principalType: z.enum(["USER", "SERVICE_ACCOUNT"]),
});
const aclBody = z.strictObject({
  permissions: z
    .array(
      z.strictObject({
        resourceScope: scopeBody.nullish(),
        resourceType: z.string().max(128),
        resourceIdentifier: text,
        permission: z.string().max(128),
      }),
    )
    .max(1_000),
  principal: principalBody.nullish(),
});

const aclShape = z.strictObject({
  principal: principalBody,
  accessControlList: z.array(
    z.strictObject({
      permission: z.string(),
      resourceScope: z.strictObject({
        accountIdentifier: z.string(),
        orgIdentifier: z.string().nullable(),
        projectIdentifier: z.string().nullable(),
      }),
      resourceType: z.string(),
      resourceIdentifier: z.string().nullable(),
      permitted: z.boolean(),
    }),
  ),
});

const aclRoute = (ask: AskAccess): Route =>
  route({
    method: "POST",
    path: "/authz/api/acl",
    operation: "access.check",
    // Needed for other principals only; every actor may ask about itself.
    access: { permission: "core_role_view" },
    query: z.object({}),
    maxBody: LARGE_BODY,
    doc: {
      summary: "Whether the caller, or another principal, may do what is asked about",
      body: {
        schema: aclBody,
        example: { permissions: [{ permission: "core_pipeline_execute", resourceType: "PIPELINE" }] },
      },
      answer: enveloped(aclShape),
    },
    handle: async (call) => {
      const body = envelopeOf(call, aclBody);
      const checks = body.permissions.map(({ resourceScope, resourceIdentifier, permission, resourceType }) => {
        const place = placeIn({ query: {}, accountId: call.accountId }, resourceScope ?? {});
        const scope = within(place);
        return { permission, resourceType, resourceIdentifier: resourceIdentifier ?? null, scope, place };
      });
      const { principal } = body;
      const asked = principal ? { type: principal.principalType, identifier: principal.principalIdentifier } : null;
      const answers = await ask(call.actor, checks, asked);
      const { actor } = call;
      return ok(call, {
        principal: principal ?? {
          principalIdentifier: "id" in actor ? toWire(actor.id) : "",
          principalType: actor.kind === "service_account" ? "SERVICE_ACCOUNT" : "USER",
        },
        accessControlList: checks.map(({ place, scope: _, ...check }, nth) => ({
          ...check,
          resourceScope: { accountIdentifier: toWire(call.accountId), ...place },
          permitted: answers[nth] ?? false,
        })),
      });
    },
  });

const ownShape = z.strictObject({
  resourceScope: z.strictObject({
    accountIdentifier: z.string(),
    orgIdentifier: z.string().nullable(),
    projectIdentifier: z.string().nullable(),
  }),
  permissions: z.array(
    z.strictObject({
      permission: z.string(),
      resourceType: z.string(),
      allResources: z.boolean(),
      resourceIdentifiers: z.array(z.string()).describe("The only resources that it counts for; empty for all."),
    }),
  ),
});

const ownRoute: Route = route({
  method: "GET",
  path: "/authz/api/acl/own",
  operation: "access.list-own",
  // Every actor may ask about itself.
  access: { permission: "core_role_view" },
  query: maybeProjectQuery,
  doc: {
    summary: "List the permissions that the caller has in a scope, or on single resources there",
    description:
      "Permissions that are missing are refused. A scope that does not exist answers what would count for it.",
    answer: enveloped(ownShape),
  },
  handle: async (call) => {
    const place = placeOf(call.query);
    return ok(call, {
      resourceScope: { accountIdentifier: toWire(call.accountId), ...place },
      permissions: listOwnPermissions(call.actor, place).map(({ identifier, resourceType, identifiers }) => ({
        permission: identifier,
        resourceType,
        allResources: identifiers === "all",
        resourceIdentifiers: identifiers === "all" ? [] : identifiers,
      })),
    });
  },
});

const permissionResponse = (facts: PermissionFacts) => ({
  permission: {
    identifier: facts.identifier,
    name: facts.name,
    status: "ACTIVE",
    allowedScopeLevels: facts.levels,
    resourceType: facts.resourceType,
    action: facts.action,
  },
  createdAt: 0,
  lastModifiedAt: 0,
});
const permissionShape = z.strictObject({
  permission: z.strictObject({
    identifier: z.string(),
    name: z.string(),
    status: z.literal("ACTIVE"),
    allowedScopeLevels: z.array(z.string()),
    resourceType: z.string(),
    action: z.string(),
  }),
  createdAt: z.literal(0),
  lastModifiedAt: z.literal(0),
});

export const accessRoutes = (ask: AskAccess): readonly Route[] => [
  aclRoute(ask),
  ownRoute,
  route({
    method: "GET",
    path: "/authz/api/permissions",
    operation: "permission.list",
    access: { permission: "core_role_view" },
    query: maybeProjectQuery,
    doc: {
      summary: "The permissions that roles may hold, each with where and over what",
      answer: enveloped(z.array(permissionShape)),
    },
    handle: async (call) => {
      authorize(call.actor, "core_role_view", scopeOf(call.accountId, placeOf(call.query)));
      return ok(call, [...permissions.values()].map(permissionResponse));
    },
  }),
  route({
    method: "GET",
    path: "/authz/api/permissions/resourcetypes",
    operation: "permission.list-resource-types",
    access: { permission: "core_role_view" },
    query: maybeProjectQuery,
    doc: { summary: "The types of resources that permissions are about", answer: enveloped(z.array(z.string())) },
    handle: async (call) => {
      authorize(call.actor, "core_role_view", scopeOf(call.accountId, placeOf(call.query)));
      return ok(call, resourceTypes);
    },
  }),
];
