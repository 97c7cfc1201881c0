import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { projectRoute } from "../../routes/project-route.ts";
import { parseNewTriggerSearch, parseTriggerSearch, parseTriggersSearch } from "./trigger-search.ts";

const listRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "triggers",
  validateSearch: parseTriggersSearch,
  component: lazyRouteComponent(() => import("./list/triggers-page.tsx"), "TriggersPage"),
});

const newRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "triggers/new",
  validateSearch: parseNewTriggerSearch,
  component: lazyRouteComponent(() => import("./editor/new-trigger-page.tsx"), "NewTriggerPage"),
});

const triggerRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "triggers/$pipeline/$trigger",
  validateSearch: parseTriggerSearch,
  component: lazyRouteComponent(() => import("./overview/trigger-page.tsx"), "TriggerPage"),
});

const editRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "triggers/$pipeline/$trigger/edit",
  component: lazyRouteComponent(() => import("./editor/edit-trigger-page.tsx"), "EditTriggerPage"),
});

export const triggerRoutes = [listRoute, newRoute, triggerRoute, editRoute] as const;
