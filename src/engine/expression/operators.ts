/** The binary operators: what computes them and what the documentation says about them. */
import type { Json } from "../model.ts";
import { calculate, plus } from "./arithmetic.ts";
import { ExpressionError } from "./error.ts";
import { positionIn } from "./functions/collections.ts";
import { matchesWhole } from "./functions/patterns.ts";
import { isList } from "./place.ts";
import type { BinaryOperator } from "./syntax.ts";
import { kindOf, order, textOf } from "./value.ts";

/** Operators that may leave their right side out, or accept that a side leads nowhere: evaluate.ts has them. */
type LazyOperator = "??" | "?:" | "||" | "&&" | "==" | "!=";
type StrictOperator = Exclude<BinaryOperator, LazyOperator>;

const LAZY: ReadonlySet<BinaryOperator> = new Set<LazyOperator>(["??", "?:", "||", "&&", "==", "!="]);

/** Whether an operator needs the values of both sides. */
export const isStrict = (operator: BinaryOperator): operator is StrictOperator => !LAZY.has(operator);

type Sides = readonly [left: Json, right: Json];

/** `spend` counts work. */
type Place = { readonly at: number; readonly spend: (units: number) => void };

export function operate(operator: StrictOperator, sides: Sides, place: Place): Json {
  const { at } = place;
  const [left, right] = sides;
  switch (operator) {
    case "<":
      return order(left, right, at) < 0;
    case "<=":
      return order(left, right, at) <= 0;
    case ">":
      return order(left, right, at) > 0;
    case ">=":
      return order(left, right, at) >= 0;
    case "=~":
      return matches(sides, place);
    case "!~":
      return !matches(sides, place);
    case "=^":
      return textOf(left, at).startsWith(textOf(right, at));
    case "=$":
      return textOf(left, at).endsWith(textOf(right, at));
    case "+":
      return plus(left, right, at);
    case "-":
    case "*":
    case "/":
    case "%":
      return calculate(operator, sides, at);
  }
}

/** Whether a list has the item, or a pattern matches the whole text. */
function matches([left, right]: Sides, { at, spend }: Place): boolean {
  if (isList(right)) return positionIn(right, left, at) >= 0;
  if (typeof right === "string") return matchesWhole(right, textOf(left, at), { at, spend });
  throw new ExpressionError("type", `'=~' needs a list or a pattern on its right, not ${kindOf(right)}`, at);
}

/** A row of the documentation. The test of the examples evaluates each. */
export type OperatorRow = {
  readonly signs: string;
  readonly description: string;
  readonly example: string;
  readonly result: Json;
};

const operator = (signs: string, description: string, [example, result]: readonly [string, Json]): OperatorRow => ({
  ...{ signs, description, example, result },
});

/** From the tightest binding to the loosest. */
export const OPERATORS: readonly OperatorRow[] = [
  operator('x.name, x["a-b"], x[0]', "A member of an object, an item of a list.", ['<+["a", "b"][1]>', "b"]),
  operator("x?.name", "The same; null if `x` is null or leads nowhere.", ["<+trigger.payload.pr?.id == null>", true]),
  operator("!x, not x, -x", "The opposite of a boolean or a number.", ["<+not false>", true]),
  operator("* / div % mod", "Whole numbers divide to a whole number.", ["<+7 / 2>", 3]),
  operator("+ -", "`+` joins texts if one side is a text.", ['<+"v" + 2>', "v2"]),
  operator("< lt, <= le, > gt, >= ge", "Order of numbers, or of texts by their characters.", ["<+2 lt 10>", true]),
  operator("=~ !~", "Whether an item is in a list, or a text matches a pattern, or not.", [
    '<+"b" =~ ["a", "b"]>',
    true,
  ]),
  operator("=^ =$", "Whether a text begins or ends with another.", ['<+"v1.2" =^ "v">', true]),
  operator("== eq, != ne", "Equality. Numbers equal their text; null equals a path to nothing.", ['<+"3" == 3>', true]),
  operator("&& and", "Both. The right side is evaluated only if needed.", ["<+true and false>", false]),
  operator("|| or", "One of both. The right side is evaluated only if needed.", ["<+true || false>", true]),
  operator("c ? x : y", "`x` if `c` is true, else `y`.", ['<+1 < 2 ? "yes" : "no">', "yes"]),
  operator("x ?? y", "`y` if `x` is null or leads nowhere.", ['<+trigger.payload.none ?? "main">', "main"]),
  operator("x ?: y", "`y` if `x` is null, false or empty, or leads nowhere.", ['<+"" ?: "main">', "main"]),
];
