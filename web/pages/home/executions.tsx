import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { dataQuery, type DataOf } from "../../api/client.ts";
import { executionList } from "../../api/operations.gen.ts";
import type { Scope } from "../../api/permissions.ts";
import { projectPath } from "../../api/recent-project.ts";
import { StatusBadge } from "../../components/status-badge.tsx";
import { Card } from "../../ui/card.tsx";
import { PathLink } from "../../ui/link.tsx";
import { Name } from "../../ui/name.tsx";
import { Duration, RelativeTime } from "../../ui/time.tsx";
import styles from "./home.module.css";

type Row = DataOf<typeof executionList>["content"][number];

/** Statuses of executions that have not ended, those that wait for a person first. */
export const OPEN_STATUSES = [
  "ApprovalWaiting",
  "InterventionWaiting",
  "InputWaiting",
  "ResourceWaiting",
  "Running",
  "Pausing",
  "Paused",
  "Queued",
] as const;
export const FAILED_STATUSES = ["Failed", "Errored", "Expired", "Aborted", "ApprovalRejected"] as const;

const SHOWN = 8;

export const listRequest = (scope: Required<Scope>, status: readonly string[]) => ({
  query: { ...scope, size: SHOWN, status },
});

type ExecutionsCardProps = {
  readonly title: string;
  readonly scope: Required<Scope>;
  readonly status: readonly string[];
  /** Says that there are none. */
  readonly none: string;
  readonly detail: (row: Row) => ReactNode;
};

function ExecutionsCard({ title, scope, status, none, detail }: ExecutionsCardProps) {
  const { data, error } = useQuery(dataQuery(executionList, listRequest(scope, status)));
  const base = projectPath({ org: scope.orgIdentifier, project: scope.projectIdentifier });
  return (
    <Card title={title} flush>
      {error !== null && <p className={styles.none}>The executions could not be loaded.</p>}
      {data?.content.length === 0 && <p className={styles.none}>{none}</p>}
      <ul className={styles.rows}>
        {(data?.content ?? []).map((row) => (
          <li key={row.planExecutionId} className={styles.row}>
            <StatusBadge status={row.status} />
            <PathLink look="quiet" path={`${base}/executions/${row.planExecutionId}`} className={styles.name}>
              <Name>{row.name}</Name> #{row.runSequence}
            </PathLink>
            {detail(row)}
          </li>
        ))}
      </ul>
    </Card>
  );
}

type CardOfScope = { readonly scope: Required<Scope> };

export const OpenExecutions = ({ scope }: CardOfScope) => (
  <ExecutionsCard
    title="Running and waiting"
    scope={scope}
    status={OPEN_STATUSES}
    none="Nothing runs now."
    detail={({ startTs, createdAt }) => (
      <span className={styles.when}>
        <Duration startedAt={startTs ?? createdAt} />
      </span>
    )}
  />
);

export const FailedExecutions = ({ scope }: CardOfScope) => (
  <ExecutionsCard
    title="Last failures"
    scope={scope}
    status={FAILED_STATUSES}
    none="Nothing has failed."
    detail={({ executionErrorInfo, endTs, createdAt }) => (
      <>
        <span className={styles.detail}>{executionErrorInfo?.message ?? ""}</span>
        <span className={styles.when}>
          <RelativeTime at={endTs ?? createdAt} />
        </span>
      </>
    )}
  />
);
