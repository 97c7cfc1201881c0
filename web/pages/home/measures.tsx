import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { messageOf } from "../../api/api-error.ts";
import { dataQuery, type DataOf } from "../../api/client.ts";
import { deploymentMeasures } from "../../api/operations.gen.ts";
import type { Scope } from "../../api/permissions.ts";
import { StackedBars } from "../../components/chart/chart.tsx";
import { Card } from "../../ui/card.tsx";
import { KeyValues } from "../../ui/key-values.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { formatDuration } from "../../util/duration.ts";
import type { Range } from "./home-search.ts";
import styles from "./home.module.css";
import { useRangeQuery } from "./range-query.ts";

export type Measures = DataOf<typeof deploymentMeasures>;

export function useMeasures(scope: Required<Scope>, range: Range) {
  const query = { ...scope, ...useRangeQuery(range) };
  return useQuery({ ...dataQuery(deploymentMeasures, { query }), placeholderData: (former) => former });
}

type ProjectMeasuresProps = { readonly scope: Required<Scope>; readonly range: Range };

/** The four measures of delivery of one project, with its deployments by day. */
export function ProjectMeasures({ scope, range }: ProjectMeasuresProps) {
  const { data, error } = useMeasures(scope, range);
  const days = data?.days;
  const labels = useMemo(() => (days ?? []).map(({ date }) => date), [days]);
  const series = useMemo(
    () => [
      { label: "Succeeded", color: "--status-success", values: (days ?? []).map(({ deployments }) => deployments) },
      { label: "Failed", color: "--status-failed", values: (days ?? []).map(({ failures }) => failures) },
    ],
    [days],
  );
  if (error !== null) return <Notice tone="failed">{messageOf(error)}</Notice>;
  if (data === undefined) return <Skeleton height="16rem" />;
  return (
    <>
      <KeyValues
        layout="columns"
        items={MEASURES.map(({ key, label, describe }) => ({ key, label, value: <Measure {...describe(data)} /> }))}
      />
      <div className={styles.charts}>
        <Card>
          <StackedBars
            title="Deployments to production per day"
            labelHeader="Day"
            labels={labels}
            series={series}
            unit="count"
          />
        </Card>
      </div>
    </>
  );
}

export type MeasureText = {
  readonly value: string;
  /** What it was computed from, or why there is no value. */
  readonly note: string;
};

export const Measure = ({ value, note }: MeasureText) => (
  <span className={styles.measure}>
    {value}
    <span className={styles.note}>{note}</span>
  </span>
);

type MeasureColumn = {
  readonly key: string;
  readonly label: string;
  readonly describe: (measures: Measures) => MeasureText;
};

const NONE = "–";
const count = (number: number, one: string): string =>
  `${number.toLocaleString("en-GB")} ${one}${number === 1 ? "" : "s"}`;

export const MEASURES: readonly MeasureColumn[] = [
  {
    key: "frequency",
    label: "Deployments per day",
    describe: ({ deployments, deploymentsPerDay }) => ({
      value: deploymentsPerDay.toLocaleString("en-GB", { maximumFractionDigits: 2 }),
      note: count(deployments, "deployment"),
    }),
  },
  {
    key: "failures",
    label: "Change failure rate",
    describe: ({ changeFailureRate, failures }) => ({
      value: changeFailureRate === null ? NONE : `${(changeFailureRate * 100).toFixed(1)} %`,
      note: changeFailureRate === null ? "no deployment ended" : `${failures.toLocaleString("en-GB")} failed`,
    }),
  },
  {
    key: "restore",
    label: "Time to restore",
    describe: ({ timeToRestore: { median, restored, open } }) => ({
      value: median === null ? NONE : formatDuration(median),
      note:
        median === null && open === 0
          ? "nothing had to be restored"
          : [...(restored > 0 ? [`${restored} restored`] : []), ...(open > 0 ? [`${open} still failing`] : [])].join(
              ", ",
            ),
    }),
  },
  {
    key: "lead",
    label: "Lead time",
    describe: ({ leadTime: { median, counted, reason } }) => ({
      value: median === null ? NONE : formatDuration(median),
      note:
        reason === "NO_COMMIT_TIME"
          ? "no payload had the commit’s time"
          : reason === "NO_DEPLOYMENT"
            ? "no deployment"
            : `of ${count(counted, "commit")}`,
    }),
  },
];
