import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { accountRoute } from "../../routes/account-route.ts";
import { parseListSearch } from "../../util/list-search.ts";
import { parseDelegatesSearch } from "./delegates/delegates-search.ts";
import { parseProjectsSearch } from "./projects/projects-search.ts";

const projectsRoute = createRoute({
  getParentRoute: () => accountRoute,
  path: "projects",
  validateSearch: parseProjectsSearch,
  component: lazyRouteComponent(() => import("./projects/projects-page.tsx"), "ProjectsPage"),
});

const delegatesRoute = createRoute({
  getParentRoute: () => accountRoute,
  path: "delegates",
  validateSearch: parseDelegatesSearch,
  component: lazyRouteComponent(() => import("./delegates/delegates-page.tsx"), "DelegatesPage"),
});

const delegateTokensRoute = createRoute({
  getParentRoute: () => accountRoute,
  path: "delegates/tokens",
  component: lazyRouteComponent(() => import("./delegates/tokens-page.tsx"), "DelegateTokensPage"),
});

const organizationsRoute = createRoute({
  getParentRoute: () => accountRoute,
  path: "organizations",
  validateSearch: parseListSearch,
  component: lazyRouteComponent(() => import("./organizations/organizations-page.tsx"), "OrganizationsPage"),
});

export const accountPagesRoutes = [projectsRoute, organizationsRoute, delegatesRoute, delegateTokensRoute] as const;
