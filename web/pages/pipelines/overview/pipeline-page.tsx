import { useQuery } from "@tanstack/react-query";
import { messageOf } from "../../../api/api-error.ts";
import { dataQuery } from "../../../api/client.ts";
import { executionList, pipelineGet, pipelineCheck, type ExecutionContent } from "../../../api/operations.gen.ts";
import { Lines } from "../../../components/chart/chart.tsx";
import { StatusBadge } from "../../../components/status-badge.tsx";
import { Card } from "../../../ui/card.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { ErrorState } from "../../../ui/error-state.tsx";
import { Table, type Column } from "../../../ui/table.tsx";
import { Duration, RelativeTime } from "../../../ui/time.tsx";
import { useTitle } from "../../../util/use-title.ts";
import { PlanGraph } from "../editor/plan-graph.tsx";
import { usePipelineKey, type PipelineKey } from "../shared/pipeline-key.ts";
import { RunLink } from "./run-link.tsx";
import styles from "./pipeline-page.module.css";

const SHOWN = 20;

/** The newest runs of a pipeline, how long they took, and what it runs. */
export function PipelinePage() {
  const key = usePipelineKey();
  useTitle(key.identifier, key.scope.projectIdentifier);
  const query = { ...key.scope, pipelineIdentifier: key.identifier, size: SHOWN, countAtMost: 1 };
  const runs = useQuery({ ...dataQuery(executionList, { query }), placeholderData: (former) => former });
  const rows = runs.data?.content;
  return (
    <div className={styles.page}>
      <div className={styles.runs}>
        {rows !== undefined && <Durations runs={rows} />}
        <Card title="Recent runs" flush>
          {runs.error === null ? (
            <Table
              label="Recent runs"
              density="compact"
              columns={columnsFor(key)}
              rows={rows}
              rowKey={({ planExecutionId }) => planExecutionId}
              empty={
                <EmptyState icon="play" title="No runs yet">
                  Run this pipeline, or let a trigger start it.
                </EmptyState>
              }
            />
          ) : (
            <ErrorState
              title="The runs could not be loaded"
              message={messageOf(runs.error)}
              onRetry={() => void runs.refetch()}
            />
          )}
        </Card>
      </div>
      <Card title="What it runs" flush>
        <CurrentPlan pipeline={key} />
      </Card>
    </div>
  );
}

function columnsFor({ params }: PipelineKey): readonly Column<ExecutionContent>[] {
  return [
    {
      key: "run",
      header: "Run",
      isTitle: true,
      width: "5rem",
      cell: ({ planExecutionId, runSequence }) => (
        <RunLink params={params} execution={planExecutionId}>
          {`#${runSequence}`}
        </RunLink>
      ),
    },
    { key: "status", header: "Status", cell: ({ status }) => <StatusBadge status={status} /> },
    {
      key: "duration",
      header: "Duration",
      align: "end",
      width: "7rem",
      cell: ({ startTs, endTs }) => startTs !== null && <Duration startedAt={startTs} endedAt={endTs ?? undefined} />,
    },
    {
      key: "started",
      header: "Started",
      align: "end",
      width: "9rem",
      cell: ({ startTs, createdAt }) => <RelativeTime at={startTs ?? createdAt} />,
    },
  ];
}

/** Durations of the ended runs, the oldest first. One run makes no line. */
function Durations({ runs }: { readonly runs: readonly ExecutionContent[] }) {
  const ended = runs
    .flatMap(({ runSequence, startTs, endTs }) =>
      startTs === null || endTs === null ? [] : [{ runSequence, duration: endTs - startTs }],
    )
    .toReversed();
  if (ended.length < 2) return null;
  return (
    <Card>
      <Lines
        title="Duration of the last runs"
        labelHeader="Run"
        labels={ended.map(({ runSequence }) => `#${runSequence}`)}
        series={[{ label: "Duration", color: "--status-running", values: ended.map(({ duration }) => duration) }]}
        unit="duration"
        height={140}
      />
    </Card>
  );
}

function CurrentPlan({ pipeline: { identifier, scope } }: { readonly pipeline: PipelineKey }) {
  const saved = useQuery(dataQuery(pipelineGet, { path: { identifier }, query: scope }));
  const pipelineYaml = saved.data?.yamlPipeline;
  const checked = useQuery({
    ...dataQuery(pipelineCheck, { query: scope, body: { pipelineYaml: pipelineYaml ?? "" } }),
    enabled: pipelineYaml !== undefined,
  });
  const plan = checked.data?.plan;
  return plan ? <PlanGraph plan={plan} /> : null;
}
