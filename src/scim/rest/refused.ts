import { z } from "zod";
import type { Route } from "../../platform/http/routes.ts";
import { problem } from "../problems.ts";
import { routeOf, type Base } from "./base.ts";

const noQuery = z.object({});

/** Optional features of the RFC that are not supported (sections 3.7 and 3.11). */
const REFUSED = [
  ["POST", "/Bulk", "bulk", "core_user_manage", "Bulk"],
  ["POST", "/.search", "search-all", "core_user_view", "Searching all types at once"],
  ["GET", "/Me", "me-get", "core_user_view", "/Me"],
  ["POST", "/Me", "me-create", "core_user_invite", "/Me"],
  ["PUT", "/Me", "me-replace", "core_user_manage", "/Me"],
  ["PATCH", "/Me", "me-patch", "core_user_manage", "/Me"],
  ["DELETE", "/Me", "me-delete", "core_user_manage", "/Me"],
] as const;

export const refusedRoutes = (base: Base): readonly Route[] =>
  REFUSED.map(([method, path, name, permission, what]) =>
    routeOf(base, {
      method,
      path,
      name: `${name}.refused`,
      permission,
      query: noQuery,
      doc: "refused",
      handle: async ({ actor, accountId }) => {
        base.deps.authorize(actor, permission, { accountId });
        throw problem("scim.not_built", [what]);
      },
    }),
  );
