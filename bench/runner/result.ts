/** Results of benchmarks: figures, most with a floor from the same run. */

/** Milliseconds, seconds, events and megabytes per second, mebibytes, kilobytes. */
export type Unit = "ms" | "s" | "/s" | "MB/s" | "MiB" | "kB";

/** The limit for a figure, in the figure's unit, or for its ratio. */
export type Goal = { readonly of: "value" | "ratio"; readonly atMost?: number; readonly atLeast?: number };

export type Figure = {
  readonly name: string;
  readonly value: number;
  readonly unit: Unit;
  /** The same work without Railhead, measured in the same run. */
  readonly floor?: number;
  /** value / floor. */
  readonly ratio?: number;
  readonly goal?: Goal;
};

export type Result = {
  /** One sentence: start and end of the measurement, and the floor. */
  readonly definition: string;
  readonly parameters: Readonly<Record<string, number | string | readonly number[]>>;
  readonly figures: readonly Figure[];
};

/** `whole` gives the figures. `brief` runs each part once at its smallest size, for CI; its figures have no meaning. */
export type Size = "whole" | "brief";

/** The parameters of a benchmark in each size. */
export type Sizes<Parameters> = Readonly<Record<Size, Readonly<Parameters>>>;

export type Bench = (signal: AbortSignal, progress: (text: string) => void, size: Size) => Promise<Result>;

/**
 * Reasons why a result is invalid: no figures, two figures with the same name, or a value that is not a finite number.
 */
export function faultsOf({ figures, parameters }: Result): readonly string[] {
  const names = figures.map(({ name }) => name);
  const numbers = [
    ...figures.flatMap(({ name, value, floor, ratio, goal }) => [
      [`${name}: value`, value] as const,
      ...(floor === undefined ? [] : [[`${name}: floor`, floor] as const]),
      // A goal for the ratio needs a ratio.
      ...(ratio === undefined && goal?.of !== "ratio" ? [] : [[`${name}: ratio`, ratio] as const]),
    ]),
    ...Object.entries(parameters).flatMap(([name, value]) => [value].flat().map((each) => [name, each] as const)),
  ];
  return [
    ...(figures.length === 0 ? ["no figures"] : []),
    ...names.filter((name, at) => names.indexOf(name) !== at).map((name) => `two figures named ${name}`),
    ...numbers
      .filter(([, number]) => typeof number !== "string" && !Number.isFinite(number))
      .map(([name, number]) => `${name} is ${number}`),
  ];
}

/** Adds the ratio to a figure with a floor. */
export function withRatio(figure: Omit<Figure, "ratio"> & { readonly floor: number }): Figure {
  return { ...figure, ratio: figure.value / figure.floor };
}

/** Whether the figure reaches its goal; undefined without a goal. */
export function isMet({ value, ratio, goal }: Figure): boolean | undefined {
  const judged = goal?.of === "ratio" ? ratio : value;
  if (!goal || judged === undefined) return undefined;
  return judged <= (goal.atMost ?? Number.POSITIVE_INFINITY) && judged >= (goal.atLeast ?? Number.NEGATIVE_INFINITY);
}

/** The value below which the given share of the samples lies (nearest rank). */
export function percentile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

export const median = (samples: readonly number[]): number => percentile(samples, 0.5);
