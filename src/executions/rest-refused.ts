/**
 * What clients of this API family may ask for and is not there yet: refused by its name, after the permission.
 * None of it is in api/openapi.json, which says what is offered.
 */
import { z } from "zod";
import type { Authorize, Permission } from "../access/index.ts";
import { route, type Route } from "../platform/http/routes.ts";
import { problem } from "./problems.ts";

const EXECUTE = "/pipeline/api/pipeline/execute";

type Refused = readonly [
  method: "GET" | "POST" | "PUT",
  path: string,
  operation: string,
  permission: Permission,
  what: string,
];

const REFUSED: readonly Refused[] = [
  ["POST", "/preflightCheck", "preflight", "core_pipeline_execute", "The preflight check"],
  ["GET", "/getPreflightCheckResponse", "preflight-answer", "core_pipeline_view", "The preflight check"],
];

export const refusedRoutes = ({ authorize }: { readonly authorize: Authorize }): readonly Route[] =>
  REFUSED.map(([method, path, operation, permission, what]) =>
    route({
      method,
      path: EXECUTE + path,
      operation: `execution.${operation}`,
      access: { permission },
      query: z.object({}),
      doc: "refused",
      handle: async (call) => {
        authorize(call.actor, permission, { accountId: call.accountId });
        throw problem("execution.unsupported", [what]);
      },
    }),
  );
