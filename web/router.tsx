import { createRouter } from "@tanstack/react-router";
import { queryClient } from "./api/query-client.ts";
import { PageError } from "./frame/page-error.tsx";
import { PageNotFound } from "./frame/page-not-found.tsx";
import { PagePending } from "./frame/page-pending.tsx";
import { accessOfOrganizationRoutes, accessOfProjectRoutes, accessRoutes } from "./pages/access/routes.ts";
import { accountPagesRoutes } from "./pages/account/routes.ts";
import { auditOfProjectRoutes, auditRoutes } from "./pages/audit/routes.ts";
import { componentsRoutes } from "./pages/components/routes.ts";
import { executionRoutes } from "./pages/executions/routes.ts";
import { homeRoutes, homeOfProjectRoutes } from "./pages/home/routes.ts";
import { pipelineRoutes } from "./pages/pipelines/routes.ts";
import { profileRoutes } from "./pages/profile/routes.ts";
import { resourceRoutes, resourceOfProjectRoutes } from "./pages/resources/routes.ts";
import { settingsOfProjectRoutes, settingsRoutes } from "./pages/settings/routes.ts";
import { toolRoutes } from "./pages/tools/routes.ts";
import { triggerRoutes } from "./pages/triggers/routes.ts";
import { accountRoute } from "./routes/account-route.ts";
import { organizationRoute } from "./routes/organization-route.ts";
import { projectRoute } from "./routes/project-route.ts";
import { rootRoute } from "./routes/root-route.ts";

const routeTree = rootRoute.addChildren([
  ...homeRoutes,
  ...profileRoutes,
  ...toolRoutes,
  ...componentsRoutes,
  projectRoute.addChildren([
    ...homeOfProjectRoutes,
    ...executionRoutes,
    ...pipelineRoutes,
    ...triggerRoutes,
    ...resourceOfProjectRoutes,
    ...accessOfProjectRoutes,
    ...auditOfProjectRoutes,
    ...settingsOfProjectRoutes,
  ]),
  accountRoute.addChildren([
    ...accountPagesRoutes,
    ...resourceRoutes,
    ...accessRoutes,
    organizationRoute.addChildren([...accessOfOrganizationRoutes]),
    ...auditRoutes,
    ...settingsRoutes,
  ]),
]);

export const router = createRouter({
  routeTree,
  context: { queryClient },
  defaultPreload: "intent",
  // The query client decides what is fresh.
  defaultPreloadStaleTime: 0,
  defaultPendingMs: 150,
  defaultPendingMinMs: 200,
  defaultPendingComponent: PagePending,
  defaultErrorComponent: PageError,
  defaultNotFoundComponent: () => <PageNotFound />,
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
  interface StaticDataRouteOption {
    /** The title of the page, before the names of its resource and of the product. */
    readonly title?: string;
  }
}
