import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { messageOf } from "../../api/api-error.ts";
import { dataQuery, type DataOf } from "../../api/client.ts";
import { executionStatistics } from "../../api/operations.gen.ts";
import type { Scope } from "../../api/permissions.ts";
import { Lines, StackedBars } from "../../components/chart/chart.tsx";
import { Card } from "../../ui/card.tsx";
import { KeyValues } from "../../ui/key-values.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { formatDuration } from "../../util/duration.ts";
import type { Range } from "./home-search.ts";
import { rangeQuery, useRangeQuery } from "./range-query.ts";
import styles from "./home.module.css";

type Statistics = DataOf<typeof executionStatistics>;

export const statisticsRequest = (scope: Required<Scope>, range: Range, today: Date) => ({
  query: { ...scope, ...rangeQuery(range, today) },
});

/** Runs, success and durations by day. */
export function StatisticsCharts({ scope, range }: { readonly scope: Required<Scope>; readonly range: Range }) {
  const request = { query: { ...scope, ...useRangeQuery(range) } };
  const { data, error } = useQuery({ ...dataQuery(executionStatistics, request), placeholderData: (former) => former });
  if (error !== null) return <Notice tone="failed">{messageOf(error)}</Notice>;
  if (data === undefined) return <Skeleton height="16rem" />;
  return <Charts statistics={data} />;
}

function Charts({ statistics: { days, total } }: { readonly statistics: Statistics }) {
  const labels = useMemo(() => days.map(({ date }) => date), [days]);
  const runs = useMemo(() => runsSeries(days), [days]);
  const durations = useMemo(
    () => [
      { label: "Median", color: "--status-running", values: days.map((day) => day.durationP50) },
      { label: "95th percentile", color: "--status-waiting", values: days.map((day) => day.durationP95), dashed: true },
    ],
    [days],
  );
  return (
    <>
      <KeyValues
        layout="columns"
        items={[
          { key: "Runs", value: total.runs.toLocaleString("en-GB") },
          {
            key: "Success rate",
            value: total.successRate === null ? "–" : `${(total.successRate * 100).toFixed(1)} %`,
          },
          { key: "Median duration", value: total.durationP50 === null ? "–" : formatDuration(total.durationP50) },
          { key: "95th percentile", value: total.durationP95 === null ? "–" : formatDuration(total.durationP95) },
        ]}
      />
      <div className={styles.charts}>
        <Card>
          <StackedBars title="Runs per day" labelHeader="Day" labels={labels} series={runs} unit="count" />
        </Card>
        <Card>
          <Lines title="Duration" labelHeader="Day" labels={labels} series={durations} unit="duration" />
        </Card>
      </div>
    </>
  );
}

function runsSeries(days: Statistics["days"]) {
  const sum = (...names: readonly (keyof Statistics["total"]["statuses"])[]) =>
    days.map(({ statuses }) => names.reduce((all, name) => all + statuses[name], 0));
  return [
    { label: "Succeeded", color: "--status-success", values: sum("Success", "IgnoreFailed") },
    { label: "Failed", color: "--status-failed", values: sum("Failed", "Errored", "Expired") },
    { label: "Aborted or rejected", color: "--status-aborted", values: sum("Aborted", "ApprovalRejected", "Skipped") },
  ];
}
