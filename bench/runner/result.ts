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

/** Whole: what the figures are read from. Brief: every part once, as small as it runs, for CI; its figures mean nothing. */
export type Size = "whole" | "brief";

/** What a benchmark takes in each size. */
export type Sizes<Parameters> = Readonly<Record<Size, Readonly<Parameters>>>;

export type Bench = (signal: AbortSignal, progress: (text: string) => void, size: Size) => Promise<Result>;

/** What makes a result worthless: nothing measured, two figures of one name, or a number that is none. */
export function faultsOf({ figures, parameters }: Result): readonly string[] {
  const names = figures.map(({ name }) => name);
  const numbers = [
    ...figures.flatMap(({ name, value, floor, ratio, goal }) => [
      [`${name}: value`, value] as const,
      ...(floor === undefined ? [] : [[`${name}: floor`, floor] as const]),
      // Without one a goal of the ratio would never be judged.
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
