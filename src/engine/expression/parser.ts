import { ExpressionError } from "./error.ts";
import { nextToken, type SymbolText, type Token } from "./lexer.ts";
import { MAX_EXPRESSION_CHARS, MAX_NESTING, MAX_TERMS } from "./limits.ts";
import { BINDING, type BinaryOperator, type Expression } from "./syntax.ts";

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
  const question = peek(parser);
  if (!accept(parser, "?")) return condition;
  return nested(parser, question.start, () => {
    const chosen = ternary(parser);
    const colon = take(parser);
    if (!isSymbol(colon, ":")) throw unexpected(parser, colon, "':' of the condition");
    return node(parser, { kind: "choice", at: question.start, condition, chosen, otherwise: ternary(parser) });
  });
}

function operatorOf(token: Token): BinaryOperator | undefined {
  if (token.kind !== "symbol") return undefined;
  return Object.hasOwn(BINDING, token.symbol) ? (token.symbol as BinaryOperator) : undefined;
}

function binary(parser: Parser, least: number): Expression {
  let left = unary(parser);
  for (;;) {
    const token = peek(parser);
    const operator = operatorOf(token);
    if (operator === undefined || BINDING[operator] <= least) return left;
    take(parser);
    if (operator === ">" || operator === ">=") parser.compared ||= parser.brackets === 0;
    const right = binary(parser, BINDING[operator]);
    left = node(parser, { kind: "binary", at: token.start, operator, left, right });
  }
}

function unary(parser: Parser): Expression {
  const token = peek(parser);
  if (!accept(parser, "!")) return postfix(parser);
  return nested(parser, token.start, () => node(parser, { kind: "not", at: token.start, operand: unary(parser) }));
}

function postfix(parser: Parser): Expression {
  let value = primary(parser);
  for (;;) {
    const token = peek(parser);
    if (accept(parser, ".")) value = dotted(parser, value);
    else if (accept(parser, "[")) {
      const key = bracketed(parser, token, "]", () => ternary(parser));
      value = node(parser, { kind: "member", at: token.start, of: value, key });
    } else return value;
  }
}

/** After a dot: a name, a call, or a name that an inner expression gives. */
function dotted(parser: Parser, of: Expression): Expression {
  const token = take(parser);
  if (isSymbol(token, "<+")) return node(parser, { kind: "member", at: token.start, of, key: enclosed(parser, token) });
  if (token.kind !== "name") throw unexpected(parser, token, "a name after the dot");
  const open = peek(parser);
  if (accept(parser, "(")) return call(parser, open, of, token.text, token.start);
  const key = node(parser, { kind: "literal", at: token.start, value: token.text });
  return node(parser, { kind: "member", at: token.start, of, key });
}

function call(parser: Parser, open: Token, of: Expression | null, name: string, at: number): Expression {
  const args = bracketed(parser, open, ")", () => {
    const values: Expression[] = [];
    if (isSymbol(peek(parser), ")")) return values;
    do values.push(ternary(parser));
    while (accept(parser, ","));
    return values;
  });
  return node(parser, { kind: "call", at, of, name, args });
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
      if (token.symbol === "<+") return enclosed(parser, token);
      if (token.symbol === "-") return negative(parser, at);
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
  if (accept(parser, "(")) return call(parser, open, null, name, at);
  return node(parser, { kind: "root", at, name });
}

function negative(parser: Parser, at: number): Expression {
  const token = take(parser);
  if (token.kind !== "number") throw unexpected(parser, token, "a number after '-'");
  return node(parser, { kind: "literal", at, value: -token.value });
}

function unexpected(parser: Parser, token: Token, wanted: string): ExpressionError {
  const { start } = token;
  if (token.kind === "end" && parser.limit < parser.text.length) {
    return new ExpressionError("limit", `it has more than ${MAX_EXPRESSION_CHARS} characters`, start);
  }
  if (token.kind === "end") {
    return new ExpressionError("syntax", `${wanted} is missing at the end of the text${hint(parser, token)}`, start);
  }
  const found = token.kind === "string" ? "a string" : `'${parser.text.slice(start, Math.min(token.end, start + 40))}'`;
  return new ExpressionError("syntax", `${found} stands where ${wanted} is expected${hint(parser, token)}`, start);
}

function hint(parser: Parser, token: Token): string {
  if (isSymbol(token, "-")) return '; a name with a hyphen is written ["like-this"]';
  if (parser.compared) return "; a '>' with blanks on both sides compares, without them it ends the expression";
  return "";
}
