import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { projectRoute } from "../../routes/project-route.ts";
import { parseExecutionSearch } from "./execution/execution-search.ts";
import { parseExecutionsSearch } from "./list/executions-search.ts";
import { parseLogSearch } from "./logs/log-search.ts";

const executionsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "executions",
  validateSearch: parseExecutionsSearch,
  component: lazyRouteComponent(() => import("./list/executions-page.tsx"), "ExecutionsPage"),
});

const executionRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "executions/$execution",
  validateSearch: parseExecutionSearch,
  component: lazyRouteComponent(() => import("./execution/execution-page.tsx"), "ExecutionPage"),
});

const logRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "executions/$execution/logs/$node",
  validateSearch: parseLogSearch,
  component: lazyRouteComponent(() => import("./logs/log-page.tsx"), "LogPage"),
});

export const executionRoutes = [executionsRoute, executionRoute, logRoute] as const;
