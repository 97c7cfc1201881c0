import { getRouteApi } from "@tanstack/react-router";
import { useCallback } from "react";
import { ConnectionLost } from "../../../components/connection-lost.tsx";
import { RunGraph } from "../../../components/run-graph/run-graph.tsx";
import { RunTimeline } from "../../../components/run-timeline.tsx";
import { ExecutionProvider, useFollowedExecution, useNode, useSummary } from "../../../components/use-execution.ts";
import { useProjectScope } from "../../../routes/scope.ts";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { ErrorState } from "../../../ui/error-state.tsx";
import { ButtonLink } from "../../../ui/link.tsx";
import { PageHeader } from "../../../ui/page-header.tsx";
import { SegmentedControl } from "../../../ui/radio-group.tsx";
import { Skeleton, SkeletonLines } from "../../../ui/skeleton.tsx";
import { SplitLayout } from "../../../ui/split-layout.tsx";
import { useTitle } from "../../../util/use-title.ts";
import { visibleText } from "../../../util/visible-text.ts";
import { ExecutionHeader } from "./execution-header.tsx";
import styles from "./execution-page.module.css";
import type { ExecutionSearch } from "./execution-search.ts";
import { NodePanel } from "./node-panel.tsx";
import { Overview } from "./overview.tsx";

const route = getRouteApi("/projects/$org/$project/executions/$execution");

export function ExecutionPage() {
  const { execution } = route.useParams();
  // Another execution begins with nothing of this one.
  return <FollowedExecution key={execution} id={execution} />;
}

function FollowedExecution({ id }: { readonly id: string }) {
  const scope = useProjectScope();
  const { store, connection, refused } = useFollowedExecution(scope, id);
  if (refused !== undefined)
    return refused.status === 404 || refused.status === 400 ? (
      <NotFound />
    ) : (
      <ErrorState
        title="The execution could not be loaded"
        message={refused.message}
        correlationId={refused.correlationId}
        onRetry={() => location.reload()}
      />
    );
  return (
    <ExecutionProvider value={store}>
      <ConnectionLost state={connection} />
      <Content />
    </ExecutionProvider>
  );
}

function NotFound() {
  const { orgIdentifier: org, projectIdentifier: project } = useProjectScope();
  useTitle("Execution not found", project);
  return (
    <>
      <PageHeader title="Execution not found" />
      <EmptyState
        icon="activity"
        title="There is no such execution"
        actions={
          <ButtonLink to="/projects/$org/$project/executions" params={{ org, project }}>
            Show all executions
          </ButtonLink>
        }
      >
        It was deleted, or it belongs to a pipeline that you may not view.
      </EmptyState>
    </>
  );
}

function Content() {
  const summary = useSummary();
  const { projectIdentifier } = useProjectScope();
  const title = summary === undefined ? "Execution" : `${visibleText(summary.name)} #${summary.runSequence}`;
  useTitle(title, projectIdentifier);
  if (summary === undefined) return <Loading />;
  return (
    <>
      <ExecutionHeader summary={summary} />
      <Body />
    </>
  );
}

function Loading() {
  return (
    <>
      <PageHeader title={<Skeleton width="16rem" height="1.75rem" />} meta={<Skeleton width="24rem" />} />
      <SkeletonLines lines={6} />
    </>
  );
}

function Body() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = useCallback(
    (next: (former: ExecutionSearch) => ExecutionSearch) =>
      void navigate({ search: next, replace: true, resetScroll: false }),
    [navigate],
  );
  const select = useCallback(
    (node: string | undefined) =>
      change(({ node: _, ...others }) => (node === undefined ? others : { ...others, node })),
    [change],
  );
  const selected = useNode(search.node ?? "")?.uuid;
  const onSelect = useCallback(
    (node: string): void => {
      select(node);
      revealPanel();
    },
    [select],
  );
  return (
    <SplitLayout
      label="Width of the graph"
      storageKey="execution"
      initial={62}
      first={
        <div className={styles.main}>
          <SegmentedControl
            label="View"
            options={[
              { value: "graph", label: "Graph" },
              { value: "timeline", label: "Timeline" },
            ]}
            value={search.view ?? "graph"}
            onChange={(view) =>
              change(({ view: _, ...others }) => (view === "timeline" ? { ...others, view } : others))
            }
          />
          {search.view === "timeline" ? (
            <RunTimeline selected={selected} onSelect={onSelect} />
          ) : (
            <RunGraph selected={selected} onSelect={onSelect} />
          )}
        </div>
      }
      second={
        <div className={styles.panel} id="node-panel">
          {selected === undefined ? (
            <Overview onSelect={onSelect} />
          ) : (
            <NodePanel
              key={selected}
              id={selected}
              tab={search.tab}
              onTab={(tab) => change((former) => ({ ...former, tab }))}
              onClose={() => select(undefined)}
            />
          )}
        </div>
      }
    />
  );
}

/** Where the panel stands below the graph, it may be out of sight. */
function revealPanel(): void {
  const panel = document.getElementById("node-panel");
  if (panel !== null && panel.getBoundingClientRect().top > innerHeight / 2)
    requestAnimationFrame(() => panel.scrollIntoView({ block: "start" }));
}
