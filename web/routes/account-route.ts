import { createRoute, Outlet } from "@tanstack/react-router";
import { permissionsQuery } from "../api/permissions.ts";
import { rootRoute } from "./root-route.ts";

/** Parent of all pages of the account. */
export const accountRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "account",
  loader: ({ context: { queryClient } }) => queryClient.query(permissionsQuery({})),
  component: Outlet,
});
