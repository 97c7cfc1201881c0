import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { projectRoute } from "../../routes/project-route.ts";
import { parseListSearch } from "../../util/list-search.ts";
import { parseInputSetSearch } from "./input-sets/input-set-search.ts";
import { parseVersionSearch } from "./versions/version-search.ts";

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

const runRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "pipelines/$pipeline/run",
  component: lazyRouteComponent(() => import("./run/run-page.tsx"), "RunPage"),
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

const versionsRoute = createRoute({
  getParentRoute: () => pipelineRoute,
  path: "versions",
  validateSearch: parseVersionSearch,
  component: lazyRouteComponent(() => import("./versions/versions-page.tsx"), "VersionsPage"),
});

const inputSetsRoute = createRoute({
  getParentRoute: () => pipelineRoute,
  path: "input-sets",
  validateSearch: parseListSearch,
  component: lazyRouteComponent(() => import("./input-sets/input-sets-page.tsx"), "InputSetsPage"),
});

const newInputSetRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "pipelines/$pipeline/input-sets/new",
  validateSearch: parseInputSetSearch,
  component: lazyRouteComponent(() => import("./input-sets/new-input-set-page.tsx"), "NewInputSetPage"),
});

const editInputSetRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "pipelines/$pipeline/input-sets/$inputSet",
  validateSearch: parseInputSetSearch,
  component: lazyRouteComponent(() => import("./input-sets/edit-input-set-page.tsx"), "EditInputSetPage"),
});

export const pipelineRoutes = [
  listRoute,
  newRoute,
  editRoute,
  runRoute,
  newInputSetRoute,
  editInputSetRoute,
  pipelineRoute.addChildren([overviewRoute, versionsRoute, inputSetsRoute]),
] as const;
