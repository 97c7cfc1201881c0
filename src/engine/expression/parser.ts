import { ExpressionError } from "./error.ts";
import { nextToken, type SymbolText, type Token } from "./lexer.ts";
import { MAX_EXPRESSION_CHARS, MAX_NESTING, MAX_TERMS } from "./limits.ts";
import { BINDING, type Expression, NAMESPACES, PREFIXES, WORDS } from "./syntax.ts";

type Parser = {
  readonly text: string;
  readonly limit: number;
  at: number;
  /** The token at `at`, once it has been looked at. */
  seen: Token | null;
  /** Open brackets since the innermost `<+`; they decide what `>` means. */
  brackets: number;
  nesting: number;
  terms: number;
  /** A '>' outside of brackets was read as a comparison; it may have been meant as the end. */
  compared: boolean;
};

/**
 * Parses the expression whose `<+` stands at `start`. `end` is the offset after
 * its `>`. Throws ExpressionError.
 */
export function parseExpressionAt(text: string, start: number): { readonly node: Expression; readonly end: number } {
  const limit = Math.min(text.length, start + MAX_EXPRESSION_CHARS);
  const parser: Parser = { text, limit, at: start, seen: null, brackets: 0, nesting: 0, terms: 0, compared: false };
  const node = enclosed(parser, take(parser));
  return { node, end: parser.at };
}

/**
 * Parses a text that is one expression without `<+` and `>` around it, such as the condition of a `when`.
 * Throws ExpressionError.
 */
export function parseBareExpression(text: string): Expression {
  const limit = Math.min(text.length, MAX_EXPRESSION_CHARS);
  const parser: Parser = { text, limit, at: 0, seen: null, brackets: 1, nesting: 0, terms: 0, compared: false };
  const node = ternary(parser);
  const end = take(parser);
  if (end.kind !== "end" || parser.limit < text.length) throw unexpected(parser, end, "the end of the condition");
  return node;
}

function peek(parser: Parser): Token {
  parser.seen ??= nextToken(parser.text, parser.at, parser.limit, parser.brackets > 0);
  return parser.seen;
}

function take(parser: Parser): Token {
  const token = peek(parser);
  parser.at = token.end;
  parser.seen = null;
  return token;
}

const isSymbol = (token: Token, symbol: SymbolText): boolean => token.kind === "symbol" && token.symbol === symbol;

function accept(parser: Parser, symbol: SymbolText): boolean {
  if (!isSymbol(peek(parser), symbol)) return false;
  take(parser);
  return true;
}

function node(parser: Parser, made: Expression): Expression {
  if (++parser.terms > MAX_TERMS) throw new ExpressionError("limit", `it has more than ${MAX_TERMS} terms`, made.at);
  return made;
}

function nested<T>(parser: Parser, at: number, parse: () => T): T {
  if (++parser.nesting > MAX_NESTING) throw new ExpressionError("limit", `it nests deeper than ${MAX_NESTING}`, at);
  const value = parse();
  parser.nesting--;
  return value;
}

/** What stands between `<+`, already taken, and its `>`. */
function enclosed(parser: Parser, open: Token): Expression {
  const brackets = parser.brackets;
  parser.brackets = 0;
  const inner = nested(parser, open.start, () => ternary(parser));
  const close = take(parser);
  if (close.kind !== "close") throw unexpected(parser, close, "'>' to end the expression");
  parser.brackets = brackets;
  return inner;
}

/** What stands between a bracket, already taken, and its partner. */
function bracketed<T>(parser: Parser, open: Token, partner: SymbolText, parse: () => T): T {
  parser.brackets++;
  const value = nested(parser, open.start, parse);
  const close = take(parser);
  if (!isSymbol(close, partner)) throw unexpected(parser, close, `'${partner}'`);
  parser.brackets--;
  return value;
}

function ternary(parser: Parser): Expression {
  const condition = binary(parser, 0);
  const token = peek(parser);
  const operator = defaultOperatorOf(token);
  if (operator !== undefined) {
    take(parser);
    const right = nested(parser, token.start, () => ternary(parser));
    return node(parser, { kind: "binary", at: token.start, operator, left: condition, right });
  }
  if (!accept(parser, "?")) return condition;
  return nested(parser, token.start, () => {
    const chosen = ternary(parser);
    const colon = take(parser);
    if (!isSymbol(colon, ":")) throw unexpected(parser, colon, "':' of the condition");
    return node(parser, { kind: "choice", at: token.start, condition, chosen, otherwise: ternary(parser) });
  });
}

function defaultOperatorOf(token: Token): "??" | "?:" | undefined {
  if (token.kind !== "symbol") return undefined;
  return token.symbol === "??" || token.symbol === "?:" ? token.symbol : undefined;
}

const isOperator = (symbol: string): symbol is keyof typeof BINDING => Object.hasOwn(BINDING, symbol);

function operatorOf(token: Token): keyof typeof BINDING | undefined {
  if (token.kind === "name") return WORDS.get(token.text);
  return token.kind === "symbol" && isOperator(token.symbol) ? token.symbol : undefined;
}

function binary(parser: Parser, least: number): Expression {
  let left = unary(parser);
  for (;;) {
    const token = peek(parser);
    const operator = operatorOf(token);
    if (operator === undefined || BINDING[operator] <= least) return left;
    take(parser);
    if (isSymbol(token, ">") || isSymbol(token, ">=")) parser.compared ||= parser.brackets === 0;
    const right = binary(parser, BINDING[operator]);
    left = node(parser, { kind: "binary", at: token.start, operator, left, right });
  }
}

function unary(parser: Parser): Expression {
  const token = peek(parser);
  const at = token.start;
  if (accept(parser, "!") || acceptWord(parser, "not")) {
    return nested(parser, at, () => node(parser, { kind: "not", at, operand: unary(parser) }));
  }
  if (!accept(parser, "-")) return postfix(parser);
  const next = peek(parser);
  if (next.kind === "number") {
    take(parser);
    return node(parser, { kind: "literal", at, value: -next.value });
  }
  return nested(parser, at, () => node(parser, { kind: "negate", at, operand: unary(parser) }));
}

function acceptWord(parser: Parser, word: string): boolean {
  const token = peek(parser);
  if (token.kind !== "name" || token.text !== word) return false;
  take(parser);
  return true;
}

function postfix(parser: Parser): Expression {
  let value = primary(parser);
  for (;;) {
    const token = peek(parser);
    if (accept(parser, ".")) value = dotted(parser, value, {});
    else if (accept(parser, "?.")) value = dotted(parser, value, { isSafe: true });
    else if (accept(parser, "[")) {
      const key = bracketed(parser, token, "]", () => ternary(parser));
      value = node(parser, { kind: "member", at: token.start, of: value, key });
    } else return value;
  }
}

/** After a dot: a name, a call, or a name that an inner expression gives. */
function dotted(parser: Parser, of: Expression, safe: { readonly isSafe?: true }): Expression {
  const token = take(parser);
  const at = token.start;
  if (isSymbol(token, "<+")) return node(parser, { kind: "member", at, of, key: enclosed(parser, token), ...safe });
  if (token.kind !== "name") throw unexpected(parser, token, "a name after the dot");
  const open = peek(parser);
  if (of.kind === "root" && NAMESPACES.has(of.name)) {
    // Functions without arguments are also written without brackets.
    const args = accept(parser, "(") ? listed(parser, open, ")") : [];
    return node(parser, { kind: "call", at: of.at, of: null, name: `${of.name}.${token.text}`, args });
  }
  if (accept(parser, "(")) {
    return node(parser, { kind: "call", at, of, name: token.text, args: listed(parser, open, ")"), ...safe });
  }
  const key = node(parser, { kind: "literal", at, value: token.text });
  return node(parser, { kind: "member", at, of, key, ...safe });
}

/** What stands between a bracket, already taken, and its partner, separated by commas. */
function listed(parser: Parser, open: Token, partner: SymbolText): readonly Expression[] {
  return bracketed(parser, open, partner, () => {
    const values: Expression[] = [];
    if (isSymbol(peek(parser), partner)) return values;
    do values.push(ternary(parser));
    while (accept(parser, ","));
    return values;
  });
}

function primary(parser: Parser): Expression {
  const token = take(parser);
  const at = token.start;
  switch (token.kind) {
    case "string":
      return node(parser, { kind: "literal", at, value: token.text });
    case "number":
      return node(parser, { kind: "literal", at, value: token.value });
    case "name":
      return named(parser, token.text, at);
    case "symbol":
      if (token.symbol === "(") return bracketed(parser, token, ")", () => ternary(parser));
      if (token.symbol === "[") return node(parser, { kind: "list", at, items: listed(parser, token, "]") });
      if (token.symbol === "<+") return enclosed(parser, token);
      throw unexpected(parser, token, "a value");
    case "close":
    case "end":
      throw unexpected(parser, token, "a value");
  }
}

function named(parser: Parser, name: string, at: number): Expression {
  if (name === "true" || name === "false") return node(parser, { kind: "literal", at, value: name === "true" });
  if (name === "null") return node(parser, { kind: "literal", at, value: null });
  const open = peek(parser);
  if (accept(parser, "(")) {
    return node(parser, { kind: "call", at, of: null, name, args: listed(parser, open, ")") });
  }
  if (!PREFIXES.has(name) || !beginsValue(open)) return node(parser, { kind: "root", at, name });
  return nested(parser, at, () => node(parser, { kind: "call", at, of: null, name, args: [unary(parser)] }));
}

const beginsValue = (token: Token): boolean =>
  token.kind === "string" || (token.kind === "name" && !WORDS.has(token.text)) || isSymbol(token, "<+");

function unexpected(parser: Parser, token: Token, wanted: string): ExpressionError {
  const { start } = token;
  if (token.kind === "end" && parser.limit < parser.text.length) {
    return new ExpressionError("limit", `it has more than ${MAX_EXPRESSION_CHARS} characters`, start);
  }
  if (token.kind === "end") {
    return new ExpressionError("syntax", `${wanted} is missing at the end of the text${hint(parser)}`, start);
  }
  const found = token.kind === "string" ? "a string" : `'${parser.text.slice(start, Math.min(token.end, start + 40))}'`;
  return new ExpressionError("syntax", `${found} stands where ${wanted} is expected${hint(parser)}`, start);
}

function hint(parser: Parser): string {
  if (parser.compared) return "; a '>' with blanks on both sides compares, without them it ends the expression";
  return "";
}
