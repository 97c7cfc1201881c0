import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "../../routes/root-route.ts";

const profileRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "profile",
  component: lazyRouteComponent(() => import("./profile-page.tsx"), "ProfilePage"),
});

export const profileRoutes = [profileRoute] as const;
