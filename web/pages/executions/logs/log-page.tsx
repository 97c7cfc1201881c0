import { getRouteApi, useLocation } from "@tanstack/react-router";
import { useMemo } from "react";
import type { ConnectionState } from "../../../api/event-stream.ts";
import {
  executionFollowLogs,
  executionLogGroups,
  executionLogLines,
  executionLogs,
  executionSearchLogs,
} from "../../../api/operations.gen.ts";
import { ConnectionLost } from "../../../components/connection-lost.tsx";
import { CopyAs } from "../../../components/copy-as.tsx";
import type { RunNode, Summary } from "../../../components/execution-store.ts";
import { formatLineSpan, parseLineSpan, type LineSpan } from "../../../components/log-viewer/lines/line-range.ts";
import { requestOf, type LogName } from "../../../components/log-viewer/lines/log-reader.ts";
import type { LogView } from "../../../components/log-viewer/log-view.ts";
import { LogViewer } from "../../../components/log-viewer/log-viewer.tsx";
import { isBad } from "../../../components/run-graph/graph-state.ts";
import { isEnded } from "../../../components/run-graph/node-kind.ts";
import { StatusBadge } from "../../../components/status-badge.tsx";
import {
  ExecutionProvider,
  useFollowedExecution,
  useLogBytes,
  useNode,
  useSummary,
} from "../../../components/use-execution.ts";
import { useProjectScope } from "../../../routes/scope.ts";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { ErrorState } from "../../../ui/error-state.tsx";
import { ButtonLink, Link } from "../../../ui/link.tsx";
import { Name } from "../../../ui/name.tsx";
import { PageHeader } from "../../../ui/page-header.tsx";
import { Select } from "../../../ui/select.tsx";
import { SkeletonLines } from "../../../ui/skeleton.tsx";
import { Duration } from "../../../ui/time.tsx";
import { useTitle } from "../../../util/use-title.ts";
import { visibleText } from "../../../util/visible-text.ts";
import styles from "./log-page.module.css";

const route = getRouteApi("/projects/$org/$project/executions/$execution/logs/$node");

export function LogPage() {
  const { execution } = route.useParams();
  // Another execution begins with nothing of this one.
  return <FollowedLog key={execution} execution={execution} />;
}

function FollowedLog({ execution }: { readonly execution: string }) {
  const { store, connection, refused } = useFollowedExecution(useProjectScope(), execution);
  if (refused !== undefined && (refused.status === 404 || refused.status === 400)) return <NotFound />;
  if (refused !== undefined)
    return (
      <ErrorState
        title="The log could not be loaded"
        message={refused.message}
        correlationId={refused.correlationId}
        onRetry={() => location.reload()}
      />
    );
  return (
    <ExecutionProvider value={store}>
      <ConnectionLost state={connection} />
      <LogOfNode connection={connection} />
    </ExecutionProvider>
  );
}

function LogOfNode({ connection }: { readonly connection: ConnectionState }) {
  const { node: id } = route.useParams();
  const summary = useSummary();
  const node = useNode(id);
  if (summary === undefined) return <SkeletonLines lines={8} />;
  if (node === undefined) return <NotFound />;
  return <Page summary={summary} node={node} connection={connection} />;
}

function NotFound() {
  const { orgIdentifier: org, projectIdentifier: project } = useProjectScope();
  useTitle("Log not found", project);
  return (
    <>
      <PageHeader title="Log not found" />
      <EmptyState
        icon="terminal"
        title="There is no such log"
        actions={
          <ButtonLink to="/projects/$org/$project/executions" params={{ org, project }}>
            Show all executions
          </ButtonLink>
        }
      >
        Its execution was deleted, or it belongs to a pipeline that you may not view.
      </EmptyState>
    </>
  );
}

type PageProps = { readonly summary: Summary; readonly node: RunNode; readonly connection: ConnectionState };

function Page({ summary, node, connection }: PageProps) {
  const { orgIdentifier, projectIdentifier } = useProjectScope();
  const { attempt, ...view } = route.useSearch();
  const navigate = route.useNavigate();
  const { span, setSpan } = useSpan();
  const bytes = useLogBytes(node.uuid);
  const { planExecutionId } = summary;
  const name = useMemo<LogName>(
    () => ({
      ...{ orgIdentifier, projectIdentifier, planExecutionId, nodeExecutionId: node.uuid },
      ...(attempt === undefined ? {} : { attempt }),
    }),
    [orgIdentifier, projectIdentifier, planExecutionId, node.uuid, attempt],
  );
  const title = visibleText(node.name);
  useTitle(`Log of ${title}`, `${visibleText(summary.name)} #${summary.runSequence}`, projectIdentifier);
  const attempts = node.earlierAttempts.length + 1;
  const isLive = !isEnded(node) && (attempt ?? attempts) === attempts;
  const setView = (next: LogView): void =>
    void navigate({
      search: { ...next, ...(attempt === undefined ? {} : { attempt }) },
      hash: true,
      replace: true,
      resetScroll: false,
    });
  return (
    <div className={styles.page}>
      <Header summary={summary} node={node} name={name} view={view} span={span} attempts={attempts} />
      <LogViewer
        key={`${node.uuid} ${attempt ?? ""}`}
        name={name}
        label={`Log of ${title}`}
        growth={`${bytes} ${node.status}`}
        isLive={isLive}
        startsAtEnd={isLive || isBad(node)}
        isConnected={connection === "open"}
        view={view}
        onView={setView}
        span={span}
        onSpan={setSpan}
      />
    </div>
  );
}

/** The lines that the fragment of the address names. */
function useSpan() {
  const navigate = route.useNavigate();
  const hash = useLocation({ select: (location) => location.hash });
  const span = useMemo(() => parseLineSpan(hash), [hash]);
  const setSpan = (next: LineSpan | undefined): void =>
    void navigate({
      search: true,
      hash: next === undefined ? "" : formatLineSpan(next),
      replace: true,
      resetScroll: false,
      hashScrollIntoView: false,
    });
  return { span, setSpan };
}

type HeaderProps = {
  readonly summary: Summary;
  readonly node: RunNode;
  readonly name: LogName;
  readonly view: LogView;
  readonly span: LineSpan | undefined;
  readonly attempts: number;
};

function Header({ summary, node, name, view, span, attempts }: HeaderProps) {
  const { org, project, execution } = route.useParams();
  const { path, query } = requestOf(name);
  const lines =
    span === undefined ? { last: 200 } : { from: span.from, limit: Math.min(5_000, span.to - span.from + 1) };
  return (
    <PageHeader
      breadcrumbs={[
        <Link key="executions" look="quiet" to="/projects/$org/$project/executions" params={{ org, project }}>
          Executions
        </Link>,
        <Link
          key="execution"
          look="quiet"
          to="/projects/$org/$project/executions/$execution"
          params={{ org, project, execution }}
          search={{ node: node.uuid }}
        >
          <span className={styles.crumb}>
            <Name>{summary.name}</Name> #{summary.runSequence}
          </span>
        </Link>,
      ]}
      title={
        <>
          Log of <Name>{node.name}</Name>
        </>
      }
      status={<StatusBadge status={node.status} />}
      meta={
        <div className={styles.meta}>
          {node.startTs !== null && <Duration startedAt={node.startTs} endedAt={node.endTs ?? undefined} />}
          {attempts > 1 && <AttemptPicker attempts={attempts} />}
        </div>
      }
      actions={
        <CopyAs
          requests={[
            { label: "Read lines of the log", operation: executionLogLines, path, query: { ...query, ...lines } },
            {
              label: "Search the log",
              operation: executionSearchLogs,
              path,
              query: { ...query, text: view.q ?? "error" },
            },
            { label: "List the groups of the log", operation: executionLogGroups, path, query },
            { label: "Download the log", operation: executionLogs, path, query },
            { label: "Follow the log", operation: executionFollowLogs, path, query },
          ]}
        />
      }
    />
  );
}

function AttemptPicker({ attempts }: { readonly attempts: number }) {
  const { attempt } = route.useSearch();
  const navigate = route.useNavigate();
  const options = [
    { value: "all", label: "All attempts" },
    ...Array.from({ length: attempts }, (_, at) => ({
      value: String(at + 1),
      label: `Attempt ${at + 1} of ${attempts}`,
    })),
  ];
  return (
    <span>
      <Select
        size="small"
        aria-label="Attempt"
        options={options}
        value={attempt === undefined ? "all" : String(attempt)}
        // The lines of another attempt are others.
        onChange={(value) =>
          void navigate({
            search: ({ attempt: _, ...others }) => (value === "all" ? others : { ...others, attempt: Number(value) }),
            replace: true,
          })
        }
      />
    </span>
  );
}
