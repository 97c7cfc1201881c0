import { useState } from "react";
import { Sparkline, type SparklineBar } from "../../components/chart/sparkline.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { Person } from "../../ui/avatar.tsx";
import { Button, IconButton } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Link } from "../../ui/link.tsx";
import { Name } from "../../ui/name.tsx";
import { CursorPagination, Pagination } from "../../ui/pagination.tsx";
import { Table, type Column, type Sort } from "../../ui/table.tsx";
import { Duration, ExactTime } from "../../ui/time.tsx";
import { SAMPLE_ROWS, type SampleRow } from "./samples.ts";

const COLUMNS: readonly Column<SampleRow>[] = [
  { key: "name", header: "Pipeline", sortKey: "name", isTitle: true, cell: (row) => <Title name={row.name} /> },
  { key: "status", header: "Status", width: "13rem", cell: (row) => <StatusBadge status={row.status} /> },
  { key: "trend", header: "Last runs", width: "7rem", wideOnly: true, cell: (row) => <Trend row={row} /> },
  { key: "person", header: "Started by", width: "12rem", cell: (row) => <Person name={row.person} /> },
  {
    key: "started",
    header: "Started",
    width: "12rem",
    sortKey: "started",
    cell: (row) => <ExactTime at={row.startedAt} />,
  },
  {
    key: "duration",
    header: "Duration",
    width: "6rem",
    align: "end",
    cell: (row) => <Duration startedAt={row.startedAt} endedAt={row.startedAt + row.durationMs} />,
  },
  {
    key: "actions",
    header: "Actions",
    hideHeader: true,
    width: "3.5rem",
    align: "end",
    cell: (row) => <IconButton icon="more" label={`Actions for run ${row.id}`} size="small" />,
  },
];

const Title = ({ name }: { readonly name: string }) => (
  <Link to="/">
    <Name>{name}</Name>
  </Link>
);

function Trend({ row }: { readonly row: SampleRow }) {
  const bars = Array.from({ length: 8 }, (_, index): SparklineBar => {
    const hasFailed = (index + Number(row.id)) % 4 === 0;
    const tone = hasFailed ? "failed" : "success";
    return {
      key: String(index),
      value: 10 + ((index * 37 + Number(row.id) * 11) % 50),
      tone,
      title: `Run ${index + 1}`,
    };
  });
  const failed = bars.filter(({ tone }) => tone === "failed").length;
  return <Sparkline bars={bars} label={`Last 8 runs: ${8 - failed} succeeded, ${failed} failed`} />;
}

export function Tables() {
  const [sort, setSort] = useState<Sort>({ key: "started", direction: "descending" });
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set(["2"]));
  const [page, setPage] = useState(1);
  const byName = SAMPLE_ROWS.toSorted((a, b) =>
    sort.key === "name" ? a.name.localeCompare(b.name) : a.startedAt - b.startedAt,
  );
  const rows = sort.direction === "ascending" ? byName : byName.toReversed();
  return (
    <>
      <Card title="Table with selection" flush>
        <Table
          label="Executions"
          columns={COLUMNS}
          rows={rows}
          rowKey={(row) => row.id}
          rowLabel={(row) => row.name}
          sort={sort}
          onSort={setSort}
          selection={{ selected, onChange: setSelected }}
        />
        <Pagination label="executions" page={page} pageSize={20} total={1_234} onChange={setPage} />
      </Card>
      <Card title="Compact table, loading" flush>
        <Table
          label="Executions that are being loaded"
          columns={COLUMNS}
          rows={undefined}
          rowKey={(row) => row.id}
          density="compact"
          placeholderRows={3}
        />
        <CursorPagination label="loading executions" onOlder={() => undefined} />
      </Card>
      <Card title="Empty table" flush>
        <Table
          label="Triggers"
          columns={COLUMNS}
          rows={[]}
          rowKey={(row) => row.id}
          empty={
            <EmptyState icon="bolt" title="No triggers yet" actions={<Button variant="primary">Create trigger</Button>}>
              A trigger starts the pipeline when a webhook arrives.
            </EmptyState>
          }
        />
      </Card>
    </>
  );
}
