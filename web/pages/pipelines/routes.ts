import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { projectRoute } from "../../routes/project-route.ts";
import { parseListSearch } from "../../util/list-search.ts";

const listRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "pipelines",
  validateSearch: parseListSearch,
  component: lazyRouteComponent(() => import("./list/pipelines-page.tsx"), "PipelinesPage"),
});

const newRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "pipelines/new",
  component: lazyRouteComponent(() => import("./editor/new-pipeline-page.tsx"), "NewPipelinePage"),
});

const editRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "pipelines/$pipeline/edit",
  component: lazyRouteComponent(() => import("./editor/edit-pipeline-page.tsx"), "EditPipelinePage"),
});

const pipelineRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "pipelines/$pipeline",
  component: lazyRouteComponent(() => import("./shared/pipeline-layout.tsx"), "PipelineLayout"),
});

const overviewRoute = createRoute({
  getParentRoute: () => pipelineRoute,
  path: "/",
  component: lazyRouteComponent(() => import("./overview/pipeline-page.tsx"), "PipelinePage"),
});

export const pipelineRoutes = [listRoute, newRoute, editRoute, pipelineRoute.addChildren([overviewRoute])] as const;
