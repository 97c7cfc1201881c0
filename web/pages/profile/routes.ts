import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "../../routes/root-route.ts";
import { parseProfileSearch } from "./profile-search.ts";

const profileRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "profile",
  validateSearch: parseProfileSearch,
  component: lazyRouteComponent(() => import("./profile-page.tsx"), "ProfilePage"),
});

export const profileRoutes = [profileRoute] as const;
