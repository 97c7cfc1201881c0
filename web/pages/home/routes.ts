import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { projectRoute } from "../../routes/project-route.ts";
import { rootRoute } from "../../routes/root-route.ts";
import { parseHomeSearch } from "./home-search.ts";

const homeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/",
  validateSearch: parseHomeSearch,
  component: lazyRouteComponent(() => import("./home-page.tsx"), "HomePage"),
});

const projectHomeRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/",
  validateSearch: parseHomeSearch,
  component: lazyRouteComponent(() => import("./project-home-page.tsx"), "ProjectHomePage"),
});

export const homeRoutes = [homeRoute] as const;
export const homeOfProjectRoutes = [projectHomeRoute] as const;
