/** What a benchmark answers: figures, each with the floor of the same run where there is one. */

/** Milliseconds, seconds, events and megabytes per second, mebibytes. */
export type Unit = "ms" | "s" | "/s" | "MB/s" | "MiB";

/** What the issue asks of a figure, in the figure's unit, or of its ratio. */
export type Goal = { readonly of: "value" | "ratio"; readonly atMost?: number; readonly atLeast?: number };

export type Figure = {
  readonly name: string;
  readonly value: number;
  readonly unit: Unit;
  /** The same thing without Railhead, measured in this run. */
  readonly floor?: number;
  /** value / floor: how many times the floor a duration takes, or which share of the floor's rate is reached. */
  readonly ratio?: number;
  readonly goal?: Goal;
};

export type Result = {
  /** One sentence: from where to where, and what the floor is. */
  readonly definition: string;
  readonly parameters: Readonly<Record<string, number | string | readonly number[]>>;
  readonly figures: readonly Figure[];
};

export type Bench = (signal: AbortSignal, progress: (text: string) => void) => Promise<Result>;

/** A figure beside its floor. */
export function beside(figure: Omit<Figure, "ratio"> & { readonly floor: number }): Figure {
  return { ...figure, ratio: figure.value / figure.floor };
}

/** Undefined when nothing is asked of the figure. */
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
