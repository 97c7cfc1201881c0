/**
 * SCIM 2.0 over HTTP (RFC 7644), on both paths that clients of this API family know. `docs.ts` describes it for
 * api/openapi.json; `docs/api/scim.md` lists decisions where the RFC leaves a choice.
 */
import type { Route } from "../../platform/http/routes.ts";
import { GROUP, USER } from "../schema/resources.ts";
import type { ScimRoutesDeps } from "./base.ts";
import { discoveryRoutes } from "./discovery.ts";
import { refusedRoutes } from "./refused.ts";
import { resourceRoutes } from "./resources.ts";

/** The current base path, and that of the first generation. */
const BASES = [
  ["scim", "/ng/api/scim/account/:accountId"],
  ["scim-older", "/api/scim/account/:accountId"],
] as const;
const USER_PERMISSIONS = { view: "core_user_view", create: "core_user_invite", manage: "core_user_manage" } as const;
const GROUP_PERMISSIONS = {
  view: "core_usergroup_view",
  create: "core_usergroup_manage",
  manage: "core_usergroup_manage",
} as const;

export const scimRoutes = (deps: ScimRoutesDeps): readonly Route[] =>
  BASES.flatMap(([noun, path]) => {
    const base = { noun, path, deps };
    return [
      ...resourceRoutes({ base, type: USER, operations: deps.people, permissions: USER_PERMISSIONS }),
      ...resourceRoutes({ base, type: GROUP, operations: deps.groups, permissions: GROUP_PERMISSIONS }),
      ...discoveryRoutes(base),
      ...refusedRoutes(base),
    ];
  });
