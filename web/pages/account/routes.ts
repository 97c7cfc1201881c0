import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { accountRoute } from "../../routes/account-route.ts";
import { parseListSearch } from "../../util/list-search.ts";

const projectsRoute = createRoute({
  getParentRoute: () => accountRoute,
  path: "projects",
  validateSearch: parseListSearch,
  component: lazyRouteComponent(() => import("./projects/projects-page.tsx"), "ProjectsPage"),
});

export const accountPagesRoutes = [projectsRoute] as const;
