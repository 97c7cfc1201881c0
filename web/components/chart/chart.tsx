import { lazy, Suspense, useId, useMemo, useState, type ReactNode } from "react";
import { SegmentedControl } from "../../ui/radio-group.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { classNames } from "../../util/class-names.ts";
import styles from "./chart.module.css";
import type { PlotSeries } from "./plot.tsx";
import { formatValue, type Unit } from "./units.ts";

const Plot = lazy(async () => ({ default: (await import("./plot.tsx")).Plot }));

export type ChartProps = {
  readonly title: string;
  /** What a label stands for: Day */
  readonly labelHeader: string;
  readonly labels: readonly string[];
  readonly series: readonly PlotSeries[];
  readonly unit: Unit;
  /** Pixels. */
  readonly height?: number | undefined;
  /** Above the chart: a total, or the choice of a range. */
  readonly summary?: ReactNode;
};

/** Bars of parts above each other. */
export const StackedBars = (props: ChartProps) => <Chart kind="bars" {...props} />;

/** Lines, such as the median and the 95th percentile. */
export const Lines = (props: ChartProps) => <Chart kind="lines" {...props} />;

const VIEWS = [
  { value: "chart", label: "Chart" },
  { value: "table", label: "Table" },
] as const;

/** The legend shows the values below the pointer. The table has all of them for readers without pointer or sight. */
function Chart(props: ChartProps & { readonly kind: "bars" | "lines" }) {
  const { kind, title, labels, series, unit, height = 200, summary } = props;
  const [view, setView] = useState<"chart" | "table">("chart");
  const [hovered, setHovered] = useState<number>();
  const id = useId();
  const config = useMemo(
    () => ({ kind, labels, series, unit, height, onHover: setHovered }),
    [kind, labels, series, unit, height],
  );
  return (
    <figure className={styles.chart} aria-labelledby={id}>
      <div className={styles.header}>
        <figcaption className={styles.title} id={id}>
          {title}
          {hovered !== undefined && <span className={styles.hovered}>{labels[hovered]}</span>}
        </figcaption>
        {summary}
        <SegmentedControl label={`View of ${title}`} options={VIEWS} value={view} onChange={setView} />
      </div>
      {view === "table" ? (
        <ChartTable {...props} />
      ) : (
        <>
          <Legend series={series} hovered={hovered} unit={unit} kind={kind} />
          <Suspense fallback={<Skeleton height={`${height}px`} />}>
            <Plot config={config} />
          </Suspense>
        </>
      )}
    </figure>
  );
}

type LegendProps = Pick<ChartProps, "series" | "unit"> & {
  readonly hovered: number | undefined;
  readonly kind: "bars" | "lines";
};

function Legend({ series, hovered, unit, kind }: LegendProps) {
  return (
    <ul className={styles.legend}>
      {series.map(({ label, color, values, dashed }) => {
        const value = hovered === undefined ? undefined : values[hovered];
        return (
          <li key={label} className={styles.entry}>
            <span
              className={classNames(
                styles.mark,
                kind === "lines" && styles.lineMark,
                dashed === true && styles.dashedMark,
              )}
              style={{ "--mark": `var(${color})` }}
              aria-hidden
            />
            {label}
            {hovered !== undefined && (
              <strong>{value === undefined || value === null ? "–" : formatValue(value, unit)}</strong>
            )}
          </li>
        );
      })}
    </ul>
  );
}

function ChartTable({ title, labelHeader, labels, series, unit, height = 200 }: ChartProps) {
  return (
    <div className={styles.scroller} style={{ maxHeight: height + 28 }} tabIndex={0} role="region" aria-label={title}>
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">{labelHeader}</th>
            {series.map(({ label }) => (
              <th key={label} scope="col" className={styles.number}>
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {labels.map((label, index) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              {series.map(({ label: name, values }) => {
                const value = values[index];
                return (
                  <td key={name} className={styles.number}>
                    {value === undefined || value === null ? "–" : formatValue(value, unit)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
