import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { permissionsQuery } from "../../api/permissions.ts";
import { accountRoute } from "../../routes/account-route.ts";
import { projectRoute } from "../../routes/project-route.ts";

const component = lazyRouteComponent(() => import("./settings-page.tsx"), "SettingsPage");

export const settingsRoutes = [
  createRoute({ getParentRoute: () => accountRoute, path: "settings", component }),
  createRoute({
    getParentRoute: () => accountRoute,
    path: "organizations/$org/settings",
    loader: ({ context: { queryClient }, params: { org } }) =>
      queryClient.query(permissionsQuery({ orgIdentifier: org })),
    component,
  }),
  createRoute({
    getParentRoute: () => accountRoute,
    path: "settings/mail",
    component: lazyRouteComponent(() => import("./mail/mail-page.tsx"), "MailPage"),
  }),
  createRoute({
    getParentRoute: () => accountRoute,
    path: "settings/scim",
    component: lazyRouteComponent(() => import("./scim/scim-page.tsx"), "ScimPage"),
  }),
] as const;

export const settingsOfProjectRoutes = [
  createRoute({ getParentRoute: () => projectRoute, path: "settings", component }),
] as const;
