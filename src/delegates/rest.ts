import { z } from "zod";
import { toWire } from "../core/ids.ts";
import { json } from "../platform/http/answers.ts";
import { route, type Route } from "../platform/http/routes.ts";
import { epochMs, resourced, wireId } from "../platform/http/shapes.ts";
import type { CreateDelegateToken } from "./tokens.ts";

const tokenShape = z.strictObject({
  uuid: wireId,
  accountId: wireId,
  name: z.string(),
  createdAt: epochMs,
  status: z.enum(["ACTIVE", "REVOKED"]),
  value: z.string().nullable(),
});

export const delegateRoutes = (verbs: { createToken: CreateDelegateToken }): readonly Route[] => [
  route({
    method: "POST",
    path: "/ng/api/delegate-token-ng",
    operation: "delegate-token.create",
    access: { permission: "core_delegate_edit" },
    errors: "resource",
    query: z.object({ tokenName: z.string({ error: "is required" }) }),
    doc: {
      summary: "Create a delegate token; its value is shown once",
      queryExample: { tokenName: "build-hosts" },
      answer: resourced(tokenShape),
    },
    handle: async (call) => {
      const token = await verbs.createToken(call.actor, call.query.tokenName);
      return json(200, {
        metaData: {},
        resource: {
          uuid: toWire(token.id),
          accountId: toWire(call.accountId),
          name: token.name,
          createdAt: token.createdAt,
          status: "ACTIVE",
          value: token.value,
        },
        responseMessages: [],
      });
    },
  }),
];
