/** The iterations of loops: combinations of a matrix, items of a list, or a number of times. */
import { newBudget } from "./expression/budget.ts";
import { ExpressionError } from "./expression/error.ts";
import { isList, type Scope } from "./expression/place.ts";
import { evaluateTemplate, evaluateValue } from "./expression/template.ts";
import type { Iteration, Json, LoopNode, Plan } from "./model.ts";
import { maxNodesWith, sizeOf } from "./node-limits.ts";

/** Instances of one loop. */
export const MAX_ITERATIONS = 256;
/** Characters of all values of one loop as JSON: they are stored with its node. */
const MAX_VALUES = 64 * 1024;

/** Throws ExpressionError, also for more iterations or nodes than the limits allow. `nodes`: what the execution has. */
export function iterationsOf(plan: Plan, loop: LoopNode, scope: Scope, nodes: number): readonly Iteration[] {
  const iterations = numbered(drafts(loop, scope));
  if (iterations.length > MAX_ITERATIONS)
    throw limit(`A loop has at most ${MAX_ITERATIONS} iterations, and '${loop.identifier}' has ${iterations.length}`);
  if (JSON.stringify(iterations).length > MAX_VALUES)
    throw limit(
      `The values of a loop have at most ${MAX_VALUES} characters, and those of '${loop.identifier}' have more`,
    );
  const all = nodes + iterations.length * sizeOf(plan, loop.body);
  const most = maxNodesWith(plan, loop.id);
  if (all > most) throw limit(`An execution has at most ${most} nodes, and with '${loop.identifier}' it has ${all}`);
  return iterations;
}

const limit = (message: string): ExpressionError => new ExpressionError("limit", message, 0);

type Draft = Omit<Iteration, "index" | "total">;

const numbered = (all: readonly Draft[]): readonly Iteration[] =>
  all.map((draft, index) => ({ index, total: all.length, ...draft }));

function drafts({ strategy, identifier }: LoopNode, scope: Scope): readonly Draft[] {
  switch (strategy.type) {
    case "matrix":
      return matrixOf(strategy, scope);
    case "items": {
      const items = listOf(strategy.items, scope, `The items of '${identifier}'`);
      const { partitionSize: size } = strategy;
      if (size === undefined) return items.map((item, at) => named(strategy.nodeName, { postfix: `_${at}`, item }));
      return Array.from({ length: Math.ceil(items.length / size) }, (_, at) =>
        named(strategy.nodeName, { postfix: `_${at}`, partition: items.slice(at * size, (at + 1) * size) }),
      );
    }
    case "times": {
      const times = Number(
        typeof strategy.times === "string" ? evaluateTemplate(strategy.times, scope) : strategy.times,
      );
      if (!Number.isInteger(times) || times < 0)
        throw new ExpressionError("type", `The number of iterations of '${identifier}' is no whole number`, 0);
      if (times > MAX_ITERATIONS)
        throw limit(`A loop has at most ${MAX_ITERATIONS} iterations, and '${identifier}' has ${times}`);
      return Array.from({ length: times }, (_, at) => named(strategy.nodeName, { postfix: `_${at}` }));
    }
  }
}

type Matrix = Extract<LoopNode["strategy"], { type: "matrix" }>;

function matrixOf({ axes, exclude, nodeName }: Matrix, scope: Scope): readonly Draft[] {
  const lists = axes.map(({ name, values }) => ({ name, values: listOf(values, scope, `Axis '${name}'`) }));
  const count = lists.reduce((product, { values }) => product * values.length, 1);
  // Excluded combinations count: they are computed all the same.
  if (count > MAX_ITERATIONS * 16)
    throw limit(
      `A matrix has at most ${MAX_ITERATIONS * 16} combinations before exclusions, and this one has ${count}`,
    );
  let all: readonly { readonly postfix: string; readonly matrix: { readonly [axis: string]: Json } }[] = [
    { postfix: "", matrix: {} },
  ];
  for (const { name, values } of lists)
    all = all.flatMap(({ postfix, matrix }) =>
      values.map((value, at) => ({ postfix: `${postfix}_${at}`, matrix: { ...matrix, [name]: value } })),
    );
  const isExcluded = (matrix: { readonly [axis: string]: Json }): boolean =>
    exclude.some((pair) => Object.entries(pair).every(([name, value]) => textOf(matrix[name]) === textOf(value)));
  return all.filter(({ matrix }) => !isExcluded(matrix)).map((one) => named(nodeName, one));
}

const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : JSON.stringify(value ?? null));

function listOf(values: readonly Json[] | string, scope: Scope, what: string): readonly Json[] {
  if (typeof values !== "string") return values.map((value) => resolved(value, scope));
  const found = evaluateValue(values, scope, newBudget());
  if (isList(found)) return found;
  // A text is a list with commas, as inputs have it.
  if (typeof found === "string") return found === "" ? [] : found.split(",").map((item) => item.trim());
  throw new ExpressionError("type", `${what} are no list`, 0);
}

const resolved = (value: Json, scope: Scope): Json =>
  typeof value === "string" && value.includes("<+") ? evaluateValue(value, scope, newBudget()) : value;

/** `nodeName` may read the values of its own iteration: `<+matrix.x>`, `<+repeat.item>`, `<+strategy.iteration>`. */
const named = (nodeName: string | undefined, draft: Draft): Draft =>
  nodeName === undefined ? draft : { ...draft, name: nodeName };
