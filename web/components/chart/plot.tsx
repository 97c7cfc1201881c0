import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import styles from "./plot.module.css";
import { resolveColor, useThemeKey } from "./theme.ts";
import { formatValue, incrementsOf, type Unit } from "./units.ts";

export type PlotSeries = {
  readonly label: string;
  /** A colour token. */
  readonly color: string;
  /** A gap where a value is null. */
  readonly values: readonly (number | null)[];
  readonly dashed?: boolean | undefined;
};

export type PlotConfig = {
  readonly kind: "lines" | "bars";
  /** What stands below the points. */
  readonly labels: readonly string[];
  /** Bars: from the bottom to the top of the stack. */
  readonly series: readonly PlotSeries[];
  readonly unit: Unit;
  /** Pixels. */
  readonly height: number;
  /** The point below the pointer. */
  readonly onHover: (index: number | undefined) => void;
};

/** The canvas of a chart, drawn anew for each configuration. It is loaded on demand, because few pages have one. */
export function Plot({ config }: { readonly config: PlotConfig }) {
  const container = useRef<HTMLDivElement>(null);
  const theme = useThemeKey();
  useEffect(() => {
    const element = container.current;
    if (!element) return undefined;
    const plot = new uPlot(optionsOf(element, config), dataOf(config), element);
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: config.height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [config, theme]);
  return <div ref={container} className={styles.plot} style={{ height: config.height }} aria-hidden />;
}

function dataOf({ kind, labels, series }: PlotConfig): uPlot.AlignedData {
  const points = labels.map((_, index) => index);
  const values = series.map((one) => [...one.values]);
  if (kind === "lines") return [points, ...values];
  return [points, ...stack(values).toReversed()];
}

/** Each series upon the sum of those below. The highest is drawn first, and the others over it. */
function stack(values: readonly (readonly (number | null)[])[]): (number | null)[][] {
  const sums: number[] = [];
  return values.map((one) =>
    one.map((value, index) => {
      const sum = (sums[index] ?? 0) + (value ?? 0);
      sums[index] = sum;
      return sum;
    }),
  );
}

function optionsOf(element: HTMLElement, config: PlotConfig): uPlot.Options {
  const { kind, labels, series, unit, height, onHover } = config;
  const [text, line] = ["--color-text-muted", "--color-border"].map((name) => resolveColor(element, name));
  const font = `12px ${getComputedStyle(element).fontFamily}`;
  const axis: uPlot.Axis = {
    stroke: text ?? "",
    font,
    grid: { stroke: line ?? "", width: 1 },
    ticks: { show: false },
  };
  const drawn = (kind === "bars" ? series.toReversed() : series).map((one): uPlot.Series => {
    const color = resolveColor(element, one.color);
    if (kind === "bars") return { label: one.label, fill: color, width: 0, paths: barPaths, points: { show: false } };
    return {
      label: one.label,
      stroke: color,
      width: 1.5,
      dash: one.dashed === true ? [4, 4] : [],
      points: { size: 4 },
    };
  });
  return {
    width: element.clientWidth,
    height,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: kind === "lines" } },
    padding: [8, 8, 0, 0],
    scales: {
      x: { time: false, range: [-0.5, Math.max(0.5, labels.length - 0.5)] },
      y: { range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 64,
        size: 28,
        splits: (plot) => spread(labels.length, Math.max(2, Math.floor(plot.width / 80))),
        values: (_, splits) => splits.map((index) => labels[index] ?? ""),
      },
      {
        ...axis,
        size: 56,
        space: 32,
        incrs: [...incrementsOf(unit)],
        values: (_, splits) => splits.map((value) => formatValue(value, unit)),
      },
    ],
    series: [{}, ...drawn],
    hooks: { setCursor: [({ cursor }) => onHover(cursor.idx ?? undefined)] },
  };
}

const barPaths = uPlot.paths.bars?.({ size: [0.7, 32], radius: 0 }) ?? (() => null);

/** Points that have a label: as many as have room, at equal distances. */
function spread(count: number, most: number): number[] {
  const step = Math.max(1, Math.ceil(count / most));
  return Array.from({ length: Math.ceil(count / step) }, (_, index) => index * step);
}
