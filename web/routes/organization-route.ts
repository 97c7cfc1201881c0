import { createRoute, Outlet } from "@tanstack/react-router";
import { permissionsQuery } from "../api/permissions.ts";
import { accountRoute } from "./account-route.ts";

/** Parent of all pages of one organization. */
export const organizationRoute = createRoute({
  getParentRoute: () => accountRoute,
  path: "organizations/$org",
  loader: ({ context: { queryClient }, params: { org } }) =>
    queryClient.query(permissionsQuery({ orgIdentifier: org })),
  component: Outlet,
});
