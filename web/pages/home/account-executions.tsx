import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { messageOf } from "../../api/api-error.ts";
import { dataQuery, type DataOf } from "../../api/client.ts";
import { executionOverview } from "../../api/operations.gen.ts";
import { projectPath } from "../../api/recent-project.ts";
import { StatusBadge } from "../../components/status-badge.tsx";
import { Card } from "../../ui/card.tsx";
import { PathLink } from "../../ui/link.tsx";
import { Name } from "../../ui/name.tsx";
import { SkeletonLines } from "../../ui/skeleton.tsx";
import { Duration, RelativeTime } from "../../ui/time.tsx";
import { visibleText } from "../../util/visible-text.ts";
import styles from "./home.module.css";

type Overview = DataOf<typeof executionOverview>;
type Row = Overview["running"][number] | Overview["failed"][number];

export const overviewRequest = { query: { size: 10 } } as const;

export const useOverview = () => useQuery(dataQuery(executionOverview, overviewRequest));

type CardProps<One extends Row> = {
  readonly title: string;
  readonly rows: readonly One[] | undefined;
  readonly error: Error | null;
  /** Says that there are none. */
  readonly none: string;
  readonly detail: (row: One) => ReactNode;
  readonly when: (row: One) => ReactNode;
};

function OverviewCard<One extends Row>({ title, rows, error, none, detail, when }: CardProps<One>) {
  return (
    <Card title={title} flush>
      {error !== null && <p className={styles.none}>{messageOf(error)}</p>}
      {rows === undefined && error === null && <SkeletonLines lines={3} />}
      {rows?.length === 0 && <p className={styles.none}>{none}</p>}
      <ul className={styles.rows}>
        {(rows ?? []).map((row) => (
          <li key={row.planExecutionId} className={styles.row}>
            <StatusBadge status={row.status} />
            <PathLink
              look="quiet"
              path={`${projectPath({ org: row.orgIdentifier, project: row.projectIdentifier })}/executions/${row.planExecutionId}`}
              className={styles.name}
            >
              <Name>{row.pipelineName}</Name> #{row.runSequence}
            </PathLink>
            <span className={styles.detail}>{detail(row)}</span>
            <span className={styles.when}>{when(row)}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

type OverviewProps = Pick<ReturnType<typeof useOverview>, "data" | "error">;

export const RunningNow = ({ data, error }: OverviewProps) => (
  <OverviewCard
    title="Running now"
    rows={data?.running}
    error={error}
    none="Nothing runs."
    detail={(row) => <Name>{row.projectName}</Name>}
    when={({ startTs, createdAt }) => <Duration startedAt={startTs ?? createdAt} />}
  />
);

export const WaitingNow = ({ data, error }: OverviewProps) => (
  <OverviewCard
    title="Waiting, and why"
    rows={data?.waiting}
    error={error}
    none="Nothing waits."
    detail={({ projectName, waitReason }) => (
      <>
        {waitReason !== null && `${visibleText(waitReason)} · `}
        <Name>{projectName}</Name>
      </>
    )}
    when={({ waitsSince, createdAt }) => (
      <>
        for <Duration startedAt={waitsSince ?? createdAt} />
      </>
    )}
  />
);

export const LastFailures = ({ data, error }: OverviewProps) => (
  <OverviewCard
    title="Last failures"
    rows={data?.failed}
    error={error}
    none="Nothing has failed."
    detail={({ projectName, failure }) => (
      <>
        {failure !== null && `${visibleText(failure)} · `}
        <Name>{projectName}</Name>
      </>
    )}
    when={({ endTs, createdAt }) => <RelativeTime at={endTs ?? createdAt} />}
  />
);
