import { useQuery } from "@tanstack/react-query";
import { dataQuery } from "../../../api/client.ts";
import {
  executionAbort,
  executionFollow,
  executionGet,
  executionLogs,
  executionRerun,
  executionRetryHistory,
} from "../../../api/operations.gen.ts";
import { CopyAs } from "../../../components/copy-as.tsx";
import type { Summary } from "../../../components/execution-store.ts";
import { StatusBadge } from "../../../components/status-badge.tsx";
import { TriggeredBy } from "../../../components/triggered-by.tsx";
import { useProjectScope } from "../../../routes/scope.ts";
import { Link } from "../../../ui/link.tsx";
import { Name } from "../../../ui/name.tsx";
import { PageHeader } from "../../../ui/page-header.tsx";
import { TagList } from "../../../ui/tag.tsx";
import { Duration, RelativeTime } from "../../../ui/time.tsx";
import { ExecutionActions } from "./execution-actions.tsx";
import styles from "./execution-header.module.css";

export function ExecutionHeader({ summary }: { readonly summary: Summary }) {
  const scope = useProjectScope();
  const { orgIdentifier: org, projectIdentifier: project } = scope;
  const { planExecutionId, pipelineIdentifier } = summary;
  const path = { planExecutionId };
  return (
    <PageHeader
      breadcrumbs={[
        <Link key="executions" look="quiet" to="/projects/$org/$project/executions" params={{ org, project }}>
          Executions
        </Link>,
        <Link
          key="pipeline"
          look="quiet"
          to="/projects/$org/$project/executions"
          params={{ org, project }}
          search={{ pipeline: pipelineIdentifier }}
        >
          <span className={styles.crumb}>
            <Name>{summary.name}</Name>
          </span>
        </Link>,
      ]}
      title={
        <>
          <Name>{summary.name}</Name> <span className={styles.number}>#{summary.runSequence}</span>
        </>
      }
      status={<StatusBadge status={summary.status} />}
      meta={<Meta summary={summary} />}
      actions={
        <>
          <CopyAs
            requests={[
              { label: "Read the execution", operation: executionGet, path, query: scope },
              { label: "Follow the execution", operation: executionFollow, path, query: scope },
              { label: "Read the log", operation: executionLogs, path, query: scope },
              {
                label: "Run again",
                operation: executionRerun,
                path: { originalExecutionId: planExecutionId, identifier: pipelineIdentifier },
                query: scope,
              },
              { label: "Abort", operation: executionAbort, path, query: { ...scope, interruptType: "AbortAll" } },
            ]}
            queries={[
              {
                label: "Read the execution",
                query:
                  "query ($id: String!) { execution(executionId: $id) { id status startedAt endedAt ... on PipelineExecution { failureDetails } } }",
                variables: { id: planExecutionId },
              },
            ]}
          />
          <ExecutionActions summary={summary} />
        </>
      }
    />
  );
}

/** The executions before and after this one, of which each is a retry of the one before it. */
function Retries({ planExecutionId }: { readonly planExecutionId: string }) {
  const scope = useProjectScope();
  const { orgIdentifier: org, projectIdentifier: project } = scope;
  const { data } = useQuery(dataQuery(executionRetryHistory, { path: { planExecutionId }, query: scope }));
  const newestFirst = data?.executionInfos ?? [];
  const at = newestFirst.findIndex(({ uuid }) => uuid === planExecutionId);
  const around = [
    { label: "Earlier execution", info: newestFirst[at + 1] },
    { label: "Newer retry", info: at > 0 ? newestFirst[at - 1] : undefined },
  ];
  return around.map(
    ({ label, info }) =>
      info && (
        <Link
          key={label}
          to="/projects/$org/$project/executions/$execution"
          params={{ org, project, execution: info.uuid }}
        >
          {label}
        </Link>
      ),
  );
}

function Meta({ summary }: { readonly summary: Summary }) {
  const { orgIdentifier: org, projectIdentifier: project } = useProjectScope();
  const { executionTriggerInfo, startTs, endTs, createdAt } = summary;
  const former = executionTriggerInfo.rerunInfo?.prevExecutionId;
  return (
    <div className={styles.meta}>
      <TriggeredBy info={executionTriggerInfo} />
      <RelativeTime at={startTs ?? createdAt} />
      {startTs !== null && (
        <span>
          {endTs === null ? "running for " : "took "}
          <Duration startedAt={startTs} endedAt={endTs ?? undefined} />
        </span>
      )}
      {former !== undefined && (
        <Link to="/projects/$org/$project/executions/$execution" params={{ org, project, execution: former }}>
          Earlier execution
        </Link>
      )}
      {summary.showRetryHistory && <Retries planExecutionId={summary.planExecutionId} />}
      {summary.isStagesExecution && <span>only {summary.stagesExecuted.length} of its stages</span>}
      {summary.tags.length > 0 && (
        <TagList tags={summary.tags.map(({ key, value }) => (value === "" ? key : `${key}:${value}`))} />
      )}
    </div>
  );
}
