/** The tree of an expression. `at` is the offset in the whole text, for messages. */
export type Expression =
  | { readonly kind: "literal"; readonly at: number; readonly value: null | boolean | number | string }
  | { readonly kind: "list"; readonly at: number; readonly items: readonly Expression[] }
  | { readonly kind: "root"; readonly at: number; readonly name: string }
  | MemberExpression
  | CallExpression
  | { readonly kind: "not"; readonly at: number; readonly operand: Expression }
  | { readonly kind: "negate"; readonly at: number; readonly operand: Expression }
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

export type MemberExpression = {
  readonly kind: "member";
  readonly at: number;
  readonly of: Expression;
  readonly key: Expression;
  /** Written `?.`: null if `of` is null or leads nowhere. */
  readonly isSafe?: true;
};

export type CallExpression = {
  readonly kind: "call";
  readonly at: number;
  /** null for a function, whose name has that of its namespace in it: `regex.extract`. */
  readonly of: Expression | null;
  readonly name: string;
  readonly args: readonly Expression[];
  /** Written `?.`: null if `of` is null or leads nowhere. */
  readonly isSafe?: true;
};

export type BinaryOperator =
  | "??"
  | "?:"
  | "||"
  | "&&"
  | "=="
  | "!="
  | "<"
  | "<="
  | ">"
  | ">="
  | "=~"
  | "!~"
  | "=^"
  | "=$"
  | "+"
  | "-"
  | "*"
  | "/"
  | "%";

/** How tightly an operator binds. `??`, `?:` and the ternary bind less than all of them. */
export const BINDING: Readonly<Record<Exclude<BinaryOperator, "??" | "?:">, number>> = {
  "||": 2,
  "&&": 3,
  "==": 4,
  "!=": 4,
  "<": 5,
  "<=": 5,
  ">": 5,
  ">=": 5,
  "=~": 5,
  "!~": 5,
  "=^": 5,
  "=$": 5,
  "+": 6,
  "-": 6,
  "*": 7,
  "/": 7,
  "%": 7,
};

/** Operators that JEXL also writes as words. */
export const WORDS: ReadonlyMap<string, keyof typeof BINDING> = new Map([
  ["or", "||"],
  ["and", "&&"],
  ["eq", "=="],
  ["ne", "!="],
  ["lt", "<"],
  ["le", "<="],
  ["gt", ">"],
  ["ge", ">="],
  ["div", "/"],
  ["mod", "%"],
]);

/** Functions that JEXL also writes without brackets, as in `empty x`. */
export const PREFIXES: ReadonlySet<string> = new Set(["empty", "size"]);

/** Words before the dot of functions, as in `regex.extract("[0-9]+", x)`. */
export const NAMESPACES: ReadonlySet<string> = new Set(["json", "xml", "regex", "datetime"]);

/** Looks a key up, like a member: `map.get("a-b")`. */
const LOOKUP = "get";
/** Looks an exported variable up: `exportedVariables.getValue("stage.x")`. */
const EXPORTED = "exportedVariables";
const EXPORTED_LOOKUP = "getValue";

/** True for a call that is a step of a path. */
export const isLookup = ({ name, of, args }: CallExpression): boolean =>
  of !== null &&
  args.length === 1 &&
  (name === LOOKUP || (name === EXPORTED_LOOKUP && of.kind === "root" && of.name === EXPORTED));

export type PathStep = { readonly of: Expression; readonly key: Expression; readonly isSafe: boolean };

/** What a step of a path looks up, and where; undefined for an expression that is none. */
export function stepOf(node: Expression): PathStep | undefined {
  if (node.kind === "member") return { of: node.of, key: node.key, isSafe: node.isSafe === true };
  const key = node.kind === "call" && isLookup(node) ? node.args[0] : undefined;
  if (node.kind !== "call" || node.of === null || key === undefined) return undefined;
  return { of: node.of, key, isSafe: node.isSafe === true };
}

export function childrenOf(node: Expression): readonly Expression[] {
  switch (node.kind) {
    case "literal":
    case "root":
      return [];
    case "list":
      return node.items;
    case "member":
      return [node.of, node.key];
    case "call":
      return node.of === null ? node.args : [node.of, ...node.args];
    case "not":
    case "negate":
      return [node.operand];
    case "binary":
      return [node.left, node.right];
    case "choice":
      return [node.condition, node.chosen, node.otherwise];
  }
}
