import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { accountRoute } from "../../routes/account-route.ts";
import { projectRoute } from "../../routes/project-route.ts";
import { permissionsQuery } from "../../api/permissions.ts";
import { parseAuditSearch } from "./audit-search.ts";

const audit = {
  path: "audit",
  validateSearch: parseAuditSearch,
  component: lazyRouteComponent(() => import("./audit-page.tsx"), "AuditPage"),
} as const;

export const auditRoutes = [createRoute({ ...audit, getParentRoute: () => accountRoute })] as const;

export const auditOfProjectRoutes = [
  createRoute({
    ...audit,
    getParentRoute: () => projectRoute,
    // Reading the trail is a permission of the account, also for one project.
    loader: ({ context: { queryClient } }) => queryClient.query(permissionsQuery({})),
  }),
] as const;
