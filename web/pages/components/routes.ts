import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "../../routes/root-route.ts";

const componentsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "components",
  component: lazyRouteComponent(() => import("./components-page.tsx"), "ComponentsPage"),
});

export const componentsRoutes = [componentsRoute] as const;
