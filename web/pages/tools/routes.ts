import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "../../routes/root-route.ts";

const graphqlRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "tools/graphql",
  component: lazyRouteComponent(() => import("./graphql/graphql-page.tsx"), "GraphqlPage"),
});

/** `q` is what was searched for, `operation` the one that is shown. */
export type ApiSearch = { readonly q?: string; readonly operation?: string };

const apiRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "tools/api",
  validateSearch: ({ q, operation }: Readonly<Record<string, unknown>>): ApiSearch => ({
    ...(typeof q === "string" && q !== "" ? { q } : {}),
    ...(typeof operation === "string" ? { operation } : {}),
  }),
  component: lazyRouteComponent(() => import("./api/api-page.tsx"), "ApiPage"),
});

export const toolRoutes = [graphqlRoute, apiRoute] as const;
