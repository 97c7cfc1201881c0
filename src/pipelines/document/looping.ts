/** `strategy`: a stage, step group or step that runs several times. */
import { z } from "zod";
import { MAX_ITERATIONS } from "../../engine/index.ts";
import { defined } from "../../platform/document/json-schema/definitions.ts";
import type { Path } from "../../platform/document/position/path.ts";
import { allLater, choice, HOST_WORDS, type Phase, text, wholeNumber } from "../../steps/schema/fields.ts";
import type { ValueField } from "../../steps/value-field.ts";

const MAX_AXES = 16;

const TOO_MANY = `A loop has at most ${MAX_ITERATIONS} iterations (limit iterationsPerLoop)`;

const isExpression = (value: string): boolean => value.includes("<+");

const scalar = z.union([z.string(), z.number(), z.boolean()]);
/** Of a map, an expression in a field would be taken as it is written. */
const fixed = scalar.refine((value) => typeof value !== "string" || !isExpression(value), {
  error: "An expression stands for a whole item, not for a field of one",
});
const item = z.union([scalar, z.record(z.string(), fixed)]);

const values = (phase: Phase) =>
  z.union([
    z.array(item).min(1).max(MAX_ITERATIONS, { error: TOO_MANY }),
    text(phase).refine(isExpression, { error: "Expected a list, or an expression that gives one" }),
  ]);

const concurrency = (phase: Phase) =>
  wholeNumber(phase, 1, MAX_ITERATIONS).nullish().describe("Iterations at the same time; all where it is left out");

const nodeName = (phase: Phase) =>
  text(phase).min(1).max(256).nullish().describe("Names each iteration, as in `deploy_<+matrix.service>`");

const matrix = (phase: Phase) =>
  z
    .object({
      exclude: z.array(z.record(z.string(), item)).nullish().describe("Combinations that are left out"),
      nodeName: nodeName(phase),
      maxConcurrency: concurrency(phase),
    })
    .catchall(values(phase).describe("Values of an axis: a list, or an expression that gives one"))
    .superRefine(checkMatrix);

/** Fields of a matrix that are no axes. */
export const OWN_FIELDS: ReadonlySet<string> = new Set(["exclude", "nodeName", "maxConcurrency"]);

/** The axes of a matrix: all that has no meaning of its own in it. */
export const axesOf = (given: { readonly [name: string]: unknown }): readonly (readonly [string, LoopValues])[] =>
  Object.entries(given).flatMap(([name, list]) => (OWN_FIELDS.has(name) ? [] : [[name, list as LoopValues] as const]));

export type LoopValues = readonly z.output<typeof item>[] | string;

function checkMatrix(given: { readonly [name: string]: unknown }, context: z.RefinementCtx): void {
  const axes = axesOf(given);
  const refuse = (path: (string | number)[], message: string): void =>
    context.addIssue({ code: "custom", path, message });
  if (axes.length === 0) refuse([], "A matrix has at least one axis, as in version: [1, 2]");
  if (axes.length > MAX_AXES) refuse([], `A matrix has at most ${MAX_AXES} axes`);
  for (const [name] of axes)
    if (HOST_WORDS.has(name) || !/^[a-zA-Z_]\w{0,127}$/.test(name))
      refuse([name], "An axis has letters, digits and _, and begins with a letter or _");
  const names = new Set(axes.map(([name]) => name));
  const exclude = (given["exclude"] ?? []) as readonly { readonly [axis: string]: unknown }[];
  for (const [nth, one] of exclude.entries())
    for (const name of Object.keys(one))
      if (!names.has(name)) refuse(["exclude", nth, name], `The matrix has no axis '${name}'`);
  const count = combinations(axes, exclude);
  if (count !== undefined && count > MAX_ITERATIONS) refuse([], `${TOO_MANY}; this matrix has ${count}`);
}

type Axes = ReturnType<typeof axesOf>;

/** Undefined where expressions decide. What is excluded counts beyond 16 times the limit, as it is computed all the same. */
function combinations(axes: Axes, exclude: readonly { readonly [axis: string]: unknown }[]): number | undefined {
  let all: { readonly [axis: string]: unknown }[] = [{}];
  const lists = axes.map(([, list]) => (typeof list === "string" ? undefined : list));
  const product = lists.reduce((count, list) => count * (list?.length ?? 1), 1);
  if (product > MAX_ITERATIONS * 16) return product;
  if (lists.includes(undefined)) return product > MAX_ITERATIONS && exclude.length === 0 ? product : undefined;
  for (const [axis, list] of axes)
    if (typeof list !== "string") all = all.flatMap((one) => list.map((value) => ({ ...one, [axis]: value })));
  const text = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
  const isExcluded = (one: { readonly [axis: string]: unknown }): boolean =>
    exclude.some((pair) => Object.entries(pair).every(([axis, value]) => text(one[axis]) === text(value)));
  return all.filter((one) => !isExcluded(one)).length;
}

/** A number, or an expression that gives one. */
const times = (phase: Phase) =>
  z.union([z.number(), text(phase)]).refine((value) => isTimes(value, phase), {
    error: `Expected a whole number from 1 to ${MAX_ITERATIONS} (limit iterationsPerLoop), or an expression`,
  });

const isTimes = (value: number | string, phase: Phase): boolean =>
  (typeof value === "string" && isExpression(value)) || wholeNumber(phase, 1, MAX_ITERATIONS).safeParse(value).success;

const repeat = (phase: Phase) =>
  z
    .strictObject({
      items: values(phase).optional().describe("One iteration for each; `<+repeat.item>`"),
      times: times(phase).optional().describe("The number of iterations"),
      partitionSize: wholeNumber(phase, 1, MAX_ITERATIONS)
        .nullish()
        .describe("Items of one iteration; `<+repeat.partition>`"),
      nodeName: nodeName(phase),
      maxConcurrency: concurrency(phase),
      ...allLater("start", "end", "unit"),
    })
    .superRefine(({ items, times, partitionSize }, context) => {
      const refuse = (path: string[], message: string): void => context.addIssue({ code: "custom", path, message });
      if ((items === undefined) === (times === undefined)) refuse([], "A repeat has either items or times");
      if (items === undefined && partitionSize != null) refuse(["partitionSize"], "'partitionSize' is for items");
    });

const FORMS = ["matrix", "repeat", "parallelism"] as const;

export const strategy = (phase: Phase) => defined(strategyOf(phase), "strategy");

const strategyOf = (phase: Phase) =>
  z
    .strictObject({
      matrix: matrix(phase).optional().describe("One iteration for each combination of the axes"),
      repeat: repeat(phase).optional().describe("One iteration for each item or time"),
      parallelism: wholeNumber(phase, 1, MAX_ITERATIONS)
        .optional()
        .describe("The number of iterations, all at the same time"),
      onFailure: choice("Loop onFailure", ["RunAll", "SkipQueued"], () => false)
        .nullish()
        .describe("Whether iterations that have not begun run after a failure"),
    })
    .superRefine((given, context) => {
      if (FORMS.filter((form) => given[form] !== undefined).length === 1) return;
      context.addIssue({ code: "custom", message: `A strategy is one of ${FORMS.join(", ")}` });
    });

export type StrategyDocument = z.output<ReturnType<typeof strategy>>;

/** The texts and numbers of a strategy: expressions in them are evaluated when the loop is reached. */
export function loopFields({ matrix, repeat }: StrategyDocument): readonly ValueField[] {
  const axes = matrix ? axesOf(matrix).flatMap(([axis, list]) => valuesIn(["strategy", "matrix", axis], list)) : [];
  const items = repeat?.items === undefined ? [] : valuesIn(["strategy", "repeat", "items"], repeat.items);
  const single = [
    [["strategy", "matrix", "nodeName"], matrix?.nodeName],
    [["strategy", "repeat", "nodeName"], repeat?.nodeName],
    [["strategy", "repeat", "times"], repeat?.times],
  ] as const;
  return [...axes, ...items, ...single.flatMap(([path, value]) => (value == null ? [] : [loopField(path, value)]))];
}

const loopField = (path: Path, value: ValueField["value"]): ValueField => ({ kind: "loop", path, value });

const valuesIn = (path: Path, values: LoopValues): readonly ValueField[] =>
  typeof values === "string"
    ? [loopField(path, values)]
    : values.flatMap((value, nth) =>
        typeof value === "object"
          ? Object.entries(value).map(([key, one]) => loopField([...path, nth, key], one))
          : [loopField([...path, nth], value)],
      );

/** How often a node runs, as far as its document says it; 1 where expressions or runtime inputs decide. */
export function iterationsOf(strategy: StrategyDocument | null | undefined): number {
  const { items } = strategy?.repeat ?? {};
  return knownIterations(strategy) ?? (Array.isArray(items) ? items.length : 1);
}

/** The same; undefined where expressions or runtime inputs decide. */
export function knownIterations(strategy: StrategyDocument | null | undefined): number | undefined {
  if (!strategy) return 1;
  const { matrix, repeat, parallelism } = strategy;
  if (matrix) return combinations(axesOf(matrix), matrix.exclude ?? []);
  if (Array.isArray(repeat?.items)) {
    const size = Number(repeat.partitionSize ?? 1);
    return Number.isNaN(size) ? undefined : Math.ceil(repeat.items.length / size);
  }
  return Number(repeat?.times ?? parallelism) || undefined;
}
