import { useQuery } from "@tanstack/react-query";
import { Outlet, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError, messageOf } from "../../../api/api-error.ts";
import { dataQuery } from "../../../api/client.ts";
import {
  executionStart,
  inputSetList,
  pipelineDelete,
  pipelineGet,
  pipelineSummary,
  pipelineUpdate,
} from "../../../api/operations.gen.ts";
import { useMay, useMayOnSome } from "../../../api/permissions.ts";
import { CopyAs } from "../../../components/copy-as.tsx";
import { StatusBadge } from "../../../components/status-badge.tsx";
import { IconButton } from "../../../ui/button.tsx";
import { ErrorState } from "../../../ui/error-state.tsx";
import { ButtonLink, Link } from "../../../ui/link.tsx";
import { Menu, MenuItem } from "../../../ui/menu.tsx";
import { Name } from "../../../ui/name.tsx";
import { PageHeader } from "../../../ui/page-header.tsx";
import { LinkTabs, TabLink } from "../../../ui/tabs.tsx";
import { RelativeTime } from "../../../ui/time.tsx";
import { DeletePipeline } from "./delete-pipeline.tsx";
import { LiveNotice } from "./live-notice.tsx";
import { usePipelineKey } from "./pipeline-key.ts";
import styles from "./pipeline-layout.module.css";
import { useLiveRuns } from "./use-live-runs.ts";

/** Header and tabs of a pipeline's pages. */
export function PipelineLayout() {
  const { identifier, scope, params } = usePipelineKey();
  const may = useMay(scope);
  const mayOnSome = useMayOnSome(scope);
  const navigate = useNavigate();
  const [isDeleting, setIsDeleting] = useState(false);
  const connection = useLiveRuns(scope);
  const summary = useQuery(dataQuery(pipelineSummary, { path: { identifier }, query: scope }));
  if (summary.error !== null && summary.data === undefined)
    return (
      <ErrorState
        title="The pipeline could not be loaded"
        message={messageOf(summary.error)}
        correlationId={summary.error instanceof ApiError ? summary.error.correlationId : undefined}
        onRetry={() => void summary.refetch()}
      />
    );
  const name = summary.data?.name ?? identifier;
  const status = summary.data?.executionSummaryInfo.lastExecutionStatus ?? null;
  return (
    <>
      <PageHeader
        breadcrumbs={[
          <Link key="list" to="/projects/$org/$project/pipelines" params={params}>
            Pipelines
          </Link>,
        ]}
        title={<Name>{name}</Name>}
        status={status !== null && <StatusBadge status={status} />}
        meta={
          <span className={styles.meta}>
            <code>{identifier}</code>
            {summary.data && (
              <>
                <span>Version {summary.data.version}</span>
                <span>
                  Changed <RelativeTime at={summary.data.lastUpdatedAt} />
                </span>
                <Link to="/projects/$org/$project/triggers" params={params} search={{ pipeline: identifier }}>
                  {summary.data.numOfTriggers === 1 ? "1 trigger" : `${summary.data.numOfTriggers} triggers`}
                </Link>
                {summary.data.description !== "" && <Name>{summary.data.description}</Name>}
              </>
            )}
            <LiveNotice connection={connection} />
          </span>
        }
        actions={
          <>
            <CopyAs
              requests={[
                { label: "Read the pipeline", operation: pipelineGet, path: { identifier }, query: scope },
                ...(may(executionStart)
                  ? [{ label: "Run the pipeline", operation: executionStart, path: { identifier }, query: scope }]
                  : []),
              ]}
            />
            {may(pipelineDelete) && (
              <Menu trigger={<IconButton variant="secondary" icon="more" label={`Actions of ${name}`} />}>
                <MenuItem icon="trash" danger onSelect={() => setIsDeleting(true)}>
                  Delete
                </MenuItem>
              </Menu>
            )}
            <ButtonLink
              icon={may(pipelineUpdate) ? "edit" : "code"}
              to="/projects/$org/$project/pipelines/$pipeline/edit"
              params={params}
            >
              {may(pipelineUpdate) ? "Edit" : "View YAML"}
            </ButtonLink>
            {may(executionStart) && (
              <ButtonLink
                variant="primary"
                icon="play"
                to="/projects/$org/$project/pipelines/$pipeline/run"
                params={params}
              >
                Run
              </ButtonLink>
            )}
          </>
        }
        tabs={
          <LinkTabs label="Pages of the pipeline">
            <TabLink to="/projects/$org/$project/pipelines/$pipeline" params={params} activeOptions={{ exact: true }}>
              Overview
            </TabLink>
            <TabLink to="/projects/$org/$project/pipelines/$pipeline/versions" params={params}>
              Versions
            </TabLink>
            {mayOnSome(inputSetList) && (
              <TabLink to="/projects/$org/$project/pipelines/$pipeline/input-sets" params={params}>
                Input sets
              </TabLink>
            )}
          </LinkTabs>
        }
      />
      <div className={styles.content}>
        <Outlet />
      </div>
      {isDeleting && (
        <DeletePipeline
          scope={scope}
          pipeline={{ identifier, name }}
          onClose={() => setIsDeleting(false)}
          onDeleted={() => void navigate({ to: "/projects/$org/$project/pipelines", params })}
        />
      )}
    </>
  );
}
