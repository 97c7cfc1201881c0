import { pipelineDelete, pipelineUpdate, executionStart, type PipelineContent } from "../../../api/operations.gen.ts";
import type { May } from "../../../api/permissions.ts";
import { StatusBadge } from "../../../components/status-badge.tsx";
import { IconButton } from "../../../ui/button.tsx";
import { Icon } from "../../../ui/icon.tsx";
import { Link } from "../../../ui/link.tsx";
import { Menu, MenuItem } from "../../../ui/menu.tsx";
import { Name } from "../../../ui/name.tsx";
import type { Column } from "../../../ui/table.tsx";
import { RelativeTime } from "../../../ui/time.tsx";
import { RecentRuns } from "../shared/recent-runs.tsx";
import styles from "./pipelines-page.module.css";

type ColumnDeps = {
  readonly may: May;
  readonly params: { readonly org: string; readonly project: string };
  readonly onDelete: (row: PipelineContent) => void;
};

export function pipelineColumns({ may, params, onDelete }: ColumnDeps): readonly Column<PipelineContent>[] {
  const columns: readonly Column<PipelineContent>[] = [
    {
      key: "name",
      header: "Name",
      isTitle: true,
      cell: ({ identifier, name }) => (
        <span className={styles.name}>
          <Link
            look="quiet"
            to="/projects/$org/$project/pipelines/$pipeline"
            params={{ ...params, pipeline: identifier }}
          >
            <Name>{name}</Name>
          </Link>
          <code className={styles.identifier}>{identifier}</code>
        </span>
      ),
    },
    {
      key: "runs",
      header: "Last runs",
      width: "8rem",
      cell: ({ recentExecutionsInfo: runs }) =>
        runs.length === 0 ? <span className={styles.none}>No runs yet</span> : <RecentRuns runs={runs} />,
    },
    { key: "status", header: "Last status", width: "12rem", cell: (row) => <LastStatus row={row} /> },
    {
      key: "changed",
      header: "Changed",
      width: "9rem",
      align: "end",
      cell: (row) => <RelativeTime at={row.lastUpdatedAt} />,
    },
  ];
  if (![executionStart, pipelineUpdate, pipelineDelete].some((one) => may(one))) return columns;
  const cell = (row: PipelineContent) => {
    const ofPipeline = { ...params, pipeline: row.identifier };
    return (
      <Menu trigger={<IconButton icon="more" size="small" label={`Actions of ${row.name}`} />}>
        {may(executionStart) && (
          <MenuItem asLink>
            <Link look="quiet" to="/projects/$org/$project/pipelines/$pipeline/run" params={ofPipeline}>
              <Icon name="play" size={14} />
              Run
            </Link>
          </MenuItem>
        )}
        {may(pipelineUpdate) && (
          <MenuItem asLink>
            <Link look="quiet" to="/projects/$org/$project/pipelines/$pipeline/edit" params={ofPipeline}>
              <Icon name="edit" size={14} />
              Edit
            </Link>
          </MenuItem>
        )}
        {may(pipelineDelete) && (
          <MenuItem icon="trash" danger onSelect={() => onDelete(row)}>
            Delete
          </MenuItem>
        )}
      </Menu>
    );
  };
  return [...columns, { key: "actions", header: "Actions", hideHeader: true, align: "end", width: "3rem", cell }];
}

function LastStatus({ row }: { readonly row: PipelineContent }) {
  const { lastExecutionStatus: status, lastExecutionTs: at } = row.executionSummaryInfo;
  if (status === null) return null;
  return (
    <span className={styles.status}>
      <StatusBadge status={status} />
      {at !== null && (
        <span className={styles.when}>
          <RelativeTime at={at} />
        </span>
      )}
    </span>
  );
}
