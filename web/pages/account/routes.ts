import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { accountRoute } from "../../routes/account-route.ts";

const projectsRoute = createRoute({
  getParentRoute: () => accountRoute,
  path: "projects",
  component: lazyRouteComponent(() => import("./projects/projects-page.tsx"), "ProjectsPage"),
});

export const accountPagesRoutes = [projectsRoute] as const;
