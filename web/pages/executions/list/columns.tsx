import type { Scope } from "../../../api/permissions.ts";
import { isFinalStatus } from "../../../components/execution-status.ts";
import type { Summary } from "../../../components/execution-store.ts";
import { StatusBadge } from "../../../components/status-badge.tsx";
import { TriggeredBy } from "../../../components/triggered-by.tsx";
import { Link } from "../../../ui/link.tsx";
import { Name } from "../../../ui/name.tsx";
import type { Column } from "../../../ui/table.tsx";
import { Duration, RelativeTime } from "../../../ui/time.tsx";
import { visibleText } from "../../../util/visible-text.ts";
import styles from "./executions-page.module.css";

export const columnsFor = ({ orgIdentifier: org, projectIdentifier: project }: Required<Scope>) =>
  [
    {
      key: "pipeline",
      header: "Execution",
      isTitle: true,
      cell: (row) => (
        <Link
          look="quiet"
          to="/projects/$org/$project/executions/$execution"
          params={{ org, project, execution: row.planExecutionId }}
          title={visibleText(row.name)}
        >
          <span className={styles.execution}>
            <Name>{row.name}</Name> <span className={styles.number}>#{row.runSequence}</span>
          </span>
        </Link>
      ),
    },
    { key: "status", header: "Status", width: "12.5rem", cell: (row) => <StatusBadge status={row.status} /> },
    { key: "detail", header: "Detail", wideOnly: true, cell: (row) => <Detail row={row} /> },
    {
      key: "by",
      header: "Started by",
      width: "12rem",
      cell: (row) => <TriggeredBy info={row.executionTriggerInfo} />,
    },
    {
      key: "started",
      header: "Started",
      align: "end",
      width: "7rem",
      cell: (row) => <RelativeTime at={row.startTs ?? row.createdAt} />,
    },
    {
      key: "duration",
      header: "Duration",
      align: "end",
      width: "6rem",
      cell: (row) =>
        row.startTs === null ? "–" : <Duration startedAt={row.startTs} endedAt={row.endTs ?? undefined} />,
    },
  ] satisfies readonly Column<Summary>[];

/** Why it failed, or where it is. */
function Detail({ row }: { readonly row: Summary }) {
  const failure = row.executionErrorInfo?.message;
  if (failure)
    return (
      <span className={styles.detail} title={visibleText(failure)}>
        <Name>{failure}</Name>
      </span>
    );
  const done = `${row.successfulStagesCount} of ${row.totalStagesCount} ${row.totalStagesCount === 1 ? "stage" : "stages"}`;
  if (isFinalStatus(row.status)) return <span className={styles.detail}>{done}</span>;
  const names = Object.values(row.layoutNodeMap)
    .filter(({ startTs, endTs }) => startTs !== null && endTs === null)
    .map(({ name }) => visibleText(name));
  return (
    <span className={styles.detail} title={names.join(", ")}>
      {done}
      {names.length > 0 && (
        <>
          , in <bdi>{names[0]}</bdi>
          {names.length > 1 && ` and ${names.length - 1} more`}
        </>
      )}
    </span>
  );
}
