/** The tree of an expression. `at` is the offset in the whole text, for messages. */
export type Expression =
  | { readonly kind: "literal"; readonly at: number; readonly value: null | boolean | number | string }
  | { readonly kind: "root"; readonly at: number; readonly name: string }
  | { readonly kind: "member"; readonly at: number; readonly of: Expression; readonly key: Expression }
  /** `of` is null when a function is called by its bare name; there is none that may be. */
  | {
      readonly kind: "call";
      readonly at: number;
      readonly of: Expression | null;
      readonly name: string;
      readonly args: readonly Expression[];
    }
  | { readonly kind: "not"; readonly at: number; readonly operand: Expression }
  | {
      readonly kind: "binary";
      readonly at: number;
      readonly operator: BinaryOperator;
      readonly left: Expression;
      readonly right: Expression;
    }
  | {
      readonly kind: "choice";
      readonly at: number;
      readonly condition: Expression;
      readonly chosen: Expression;
      readonly otherwise: Expression;
    };

export type BinaryOperator = "||" | "&&" | "==" | "!=" | "<" | "<=" | ">" | ">=" | "+";

/** How tightly an operator binds; the ternary binds less than all of them. */
export const BINDING: Readonly<Record<BinaryOperator, number>> = {
  "||": 2,
  "&&": 3,
  "==": 4,
  "!=": 4,
  "<": 5,
  "<=": 5,
  ">": 5,
  ">=": 5,
  "+": 6,
};
