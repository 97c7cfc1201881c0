import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { accountRoute } from "../../routes/account-route.ts";
import { projectRoute } from "../../routes/project-route.ts";
import { parseResourceSearch } from "./shared/resource-search.ts";

const connectors = {
  path: "connectors",
  validateSearch: parseResourceSearch,
  component: lazyRouteComponent(() => import("./connectors/connectors-page.tsx"), "ConnectorsPage"),
} as const;
const environments = {
  path: "environments",
  validateSearch: parseResourceSearch,
  component: lazyRouteComponent(() => import("./environments/environments-page.tsx"), "EnvironmentsPage"),
} as const;
const services = {
  path: "services",
  validateSearch: parseResourceSearch,
  component: lazyRouteComponent(() => import("./services/services-page.tsx"), "ServicesPage"),
} as const;
const secrets = {
  path: "secrets",
  validateSearch: parseResourceSearch,
  component: lazyRouteComponent(() => import("./secrets/secrets-page.tsx"), "SecretsPage"),
} as const;

/** The same pages for the account and for each project. */
export const resourceRoutes = [
  createRoute({ ...connectors, getParentRoute: () => accountRoute }),
  createRoute({ ...environments, getParentRoute: () => accountRoute }),
  createRoute({ ...services, getParentRoute: () => accountRoute }),
  createRoute({ ...secrets, getParentRoute: () => accountRoute }),
] as const;

export const resourceOfProjectRoutes = [
  createRoute({ ...connectors, getParentRoute: () => projectRoute }),
  createRoute({ ...environments, getParentRoute: () => projectRoute }),
  createRoute({ ...services, getParentRoute: () => projectRoute }),
  createRoute({ ...secrets, getParentRoute: () => projectRoute }),
] as const;
