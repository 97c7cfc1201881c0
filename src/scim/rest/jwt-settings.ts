/** Support for setting up signed tokens for SCIM. */
import { z } from "zod";
import { ok } from "../../platform/http/response/answers.ts";
import { envelopeOf } from "../../platform/http/request/bodies.ts";
import { route, type Route } from "../../platform/http/routes.ts";
import { enveloped } from "../../platform/http/response/shapes.ts";
import type { CheckedSettings, CheckJwtSettings } from "../jwt/check-settings.ts";

const body = z.strictObject({
  token: z
    .string()
    .min(1)
    .max(8_192)
    .nullish()
    .describe("A signed token of the directory; it is not stored or logged."),
});

const shape = z.strictObject({
  missingSettings: z.array(z.string()).describe("Without one of them, no token is accepted."),
  keySet: z
    .strictObject({
      url: z.string(),
      failure: z.string().nullable().describe("Why the key set could not be fetched; older keys may still count."),
      keys: z.array(z.strictObject({ kid: z.string().nullable(), algorithms: z.array(z.string()) })),
    })
    .nullable(),
  serviceAccount: z.strictObject({ identifier: z.string(), found: z.boolean() }).nullable(),
  token: z
    .strictObject({ accepted: z.boolean(), reason: z.string().nullable() })
    .nullable()
    .describe("Null if none was sent."),
});

const wire = ({ missing, keySet, serviceAccount, refusal }: CheckedSettings): z.output<typeof shape> => ({
  missingSettings: [...missing],
  keySet: keySet
    ? {
        ...{ url: keySet.url, failure: keySet.failure ?? null },
        keys: keySet.keys.map(({ kid, algorithms }) => ({ kid: kid ?? null, algorithms: [...algorithms] })),
      }
    : null,
  serviceAccount: serviceAccount ? { identifier: serviceAccount.identifier, found: serviceAccount.isFound } : null,
  token: refusal === undefined ? null : { accepted: refusal === null, reason: refusal },
});

export const jwtSettingsRoute = (check: CheckJwtSettings): Route =>
  route({
    method: "POST",
    path: "/ng/api/scim/jwt-settings/check",
    operation: "setting.check-scim-jwt",
    access: { permission: "core_authsetting_edit" },
    query: z.object({}),
    doc: {
      summary: "Check the settings for signed tokens of SCIM, and whether they accept a token",
      description: "Fetches the key set, at most once in 30 seconds. The token is not stored or logged.",
      body: { schema: body, required: false, example: { token: "e30.e30.e30" } },
      answer: enveloped(shape),
    },
    handle: async (call) => {
      const { token } = call.body.bytes.length === 0 ? {} : envelopeOf(call, body);
      return ok(call, wire(await check(call.actor, token ?? undefined)));
    },
  });
