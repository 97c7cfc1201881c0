/** The usage scope of a secret: in which applications and environments executions may use it. */
import { z } from "zod";
import { ok } from "../../platform/http/response/answers.ts";
import { envelopeOf } from "../../platform/http/request/bodies.ts";
import { ifMatch } from "../../platform/http/request/if-match.ts";
import { maybeProjectQuery } from "../../platform/http/request/queries.ts";
import { route, type Route } from "../../platform/http/routes.ts";
import { enveloped } from "../../platform/http/response/shapes.ts";
import type { GetSecret, RequirePermission } from "../find.ts";
import type { Secret } from "../secret.ts";
import type { UpdateSecret } from "../update.ts";
import { scopeOf, scopeToWire, usageScopeBody, usageScopeShape } from "../wire/usage-scope.ts";
import { keyOf, placeOf } from "./query.ts";

type Operations = {
  readonly get: GetSecret;
  readonly update: UpdateSecret;
  readonly requirePermission: RequirePermission;
};

const PATH = "/ng/api/v2/secrets/:identifier/usage-scope";
const params = { identifier: "registry_password" };

const body = z.strictObject({
  inheritScopesFromSM: z.boolean().nullish().describe("Wins over usageScope."),
  scopedToAccount: z.boolean().nullish(),
  usageScope: usageScopeBody.nullish().describe("Null: none, so that no execution may use the secret."),
});

const shape = z.strictObject({
  inheritScopesFromSM: z.boolean().describe("The scope of its secret manager counts."),
  scopedToAccount: z.boolean(),
  usageScope: usageScopeShape.nullable().describe("Null if it inherits, and if no execution may use the secret."),
  secretManagerIdentifier: z.string(),
});

const wire = ({ inheritsScope, scopedToAccount, usageScope, managerIdentifier }: Secret): z.output<typeof shape> => ({
  inheritScopesFromSM: inheritsScope,
  scopedToAccount,
  usageScope: scopeToWire(usageScope),
  secretManagerIdentifier: managerIdentifier,
});

export const usageScopeRoutes = (operations: Operations): readonly Route[] => [
  route({
    method: "GET",
    path: PATH,
    operation: "secret.get-usage-scope",
    access: { permission: "core_secret_view" },
    query: maybeProjectQuery,
    doc: { summary: "Read the usage scope of a secret", params, answer: enveloped(shape), etag: true },
    handle: async (call) => {
      const secret = await operations.get(call.actor, { by: "identifier", key: keyOf(call) });
      return ok(call, wire(secret), secret.version);
    },
  }),
  route({
    method: "PUT",
    path: PATH,
    operation: "secret.update-usage-scope",
    access: { permission: "core_secret_edit" },
    query: maybeProjectQuery,
    doc: {
      summary: "Change the usage scope of a secret; fields that are left out stay",
      description:
        "A wider scope needs core_secret_access on the secret and core_environment_access on what it covers.",
      params,
      body: {
        schema: body,
        example: {
          usageScope: {
            appEnvScopes: [
              { application: { filterType: "ALL" }, environment: { filterType: "NON_PRODUCTION_ENVIRONMENTS" } },
            ],
          },
        },
      },
      answer: enveloped(shape),
      etag: true,
      ifMatch: true,
    },
    handle: async (call) => {
      operations.requirePermission(call.actor, "core_secret_edit", placeOf(call));
      const { inheritScopesFromSM, scopedToAccount, usageScope } = envelopeOf(call, body);
      const scoping = {
        inheritsScope: inheritScopesFromSM,
        scopedToAccount,
        usageScope: usageScope && scopeOf(usageScope),
      };
      const ref = { by: "identifier", key: keyOf(call) } as const;
      const secret = await operations.update(call.actor, ref, { changes: { scoping }, version: ifMatch(call) });
      return ok(call, wire(secret), secret.version);
    },
  }),
];
