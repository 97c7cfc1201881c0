/** Every function and method of expressions. */
import { COLLECTION_FUNCTIONS, COLLECTION_METHODS } from "./functions/collections.ts";
import { DATE_FUNCTIONS, DATE_METHODS } from "./functions/dates.ts";
import { JSON_FUNCTIONS } from "./functions/json.ts";
import { PATTERN_FUNCTIONS, PATTERN_METHODS } from "./functions/patterns.ts";
import { type FunctionRow, refusalOfCount } from "./functions/row.ts";
import { TEXT_METHODS } from "./functions/text.ts";
import { XML_FUNCTIONS } from "./functions/xml.ts";
import { nearest } from "./nearest.ts";

/** Called on a value, as in `x.trim()`. `get` is not in the table: the evaluator follows it as a step of a path. */
export const METHODS: readonly FunctionRow[] = [
  ...TEXT_METHODS,
  ...PATTERN_METHODS,
  ...COLLECTION_METHODS,
  ...DATE_METHODS,
];
/** Called without a value before them, as in `empty(x)` and `regex.match("a+", x)`. */
export const FUNCTIONS: readonly FunctionRow[] = [
  ...COLLECTION_FUNCTIONS,
  ...PATTERN_FUNCTIONS,
  ...JSON_FUNCTIONS,
  ...XML_FUNCTIONS,
  ...DATE_FUNCTIONS,
];

const byName = (rows: readonly FunctionRow[]): ReadonlyMap<string, FunctionRow> =>
  new Map(rows.map((row) => [row.name, row]));

const METHOD_OF = byName(METHODS);
const FUNCTION_OF = byName(FUNCTIONS);

/** The row of a method, or why there is none that takes so many arguments. */
export function methodOf(name: string, count: number): FunctionRow | string {
  return named(METHOD_OF, name, count) ?? `there is no function '${name}'${hint(name, METHOD_OF, ".")}`;
}

export function functionOf(name: string, count: number): FunctionRow | string {
  return named(FUNCTION_OF, name, count) ?? `there is no function '${name}'${hint(name, FUNCTION_OF, "")}`;
}

function named(rows: ReadonlyMap<string, FunctionRow>, name: string, count: number): FunctionRow | string | undefined {
  const row = rows.get(name);
  return row && (refusalOfCount(row, count) ?? row);
}

function hint(name: string, rows: ReadonlyMap<string, FunctionRow>, dot: string): string {
  const names = [...rows.keys(), ...(dot === "" ? [] : ["get"])];
  const near = nearest(name, names);
  if (near !== undefined) return `; did you mean '${near}'?`;
  return `; there are: ${names.map((one) => `${dot}${one}()`).join(", ")}`;
}
