import { createRoute, Outlet } from "@tanstack/react-router";
import { permissionsQuery } from "../api/permissions.ts";
import { dataQuery } from "../api/client.ts";
import { projectGet } from "../api/operations.gen.ts";
import { rootRoute } from "./root-route.ts";

/** Parent of all pages of one project. Its loader fails if the user may not see the project. */
export const projectRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "projects/$org/$project",
  loader: async ({ context: { queryClient }, params: { org, project } }) => {
    const scope = { orgIdentifier: org, projectIdentifier: project };
    const [found] = await Promise.all([
      queryClient.query(dataQuery(projectGet, { path: { identifier: project }, query: { orgIdentifier: org } })),
      queryClient.query(permissionsQuery(scope)),
    ]);
    return found;
  },
  component: Outlet,
});
