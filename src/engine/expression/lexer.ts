import { ExpressionError } from "./error.ts";

const SYMBOLS = [
  ...["<+", "||", "&&", "==", "!=", "<=", ">=", "=~", "!~", "=^", "=$", "??", "?:", "?."],
  ...[".", "[", "]", "(", ")", ",", "?", ":", "!", "-", "<", ">", "+", "*", "/", "%"],
] as const;

export type SymbolText = (typeof SYMBOLS)[number];

export type Token = { readonly start: number; readonly end: number } & (
  | { readonly kind: "name"; readonly text: string }
  | { readonly kind: "string"; readonly text: string }
  | { readonly kind: "number"; readonly value: number }
  | { readonly kind: "symbol"; readonly symbol: SymbolText }
  /** The `>` that ends an expression. */
  | { readonly kind: "close" }
  | { readonly kind: "end" }
);

const ESCAPES: Readonly<Record<string, string>> = { "\\": "\\", '"': '"', "'": "'", n: "\n", r: "\r", t: "\t" };

const isBlank = (c: string | undefined): boolean => c === " " || c === "\t" || c === "\n" || c === "\r";
const isDigit = (c: string | undefined): boolean => c !== undefined && c >= "0" && c <= "9";
const beginsName = (c: string | undefined): boolean =>
  c !== undefined && ((c >= "a" && c <= "z") || (c >= "A" && c <= "Z") || c === "_");
const continuesName = (c: string | undefined): boolean => beginsName(c) || isDigit(c) || c === "$";

/**
 * The token at or after `from`; nothing at or after `limit` is read.
 *
 * `>` has two meanings. Inside brackets it always compares. Outside it compares
 * only with blanks on both sides (`<+<+a> > 3>`), otherwise it ends the
 * expression, so that `--set <+a>=<+b>` and `<+a>text` mean what they look like.
 */
export function nextToken(text: string, from: number, limit: number, inBrackets: boolean): Token {
  let start = from;
  while (start < limit && isBlank(text[start])) start++;
  if (start >= limit) return { kind: "end", start, end: start };
  const c = text.charAt(start);
  if (beginsName(c)) return nameAt(text, start, limit);
  if (isDigit(c)) return numberAt(text, start, limit);
  if (c === '"' || c === "'") return stringAt(text, start, limit);
  if (c === ">" && !inBrackets && !compares(text, start, limit)) return { kind: "close", start, end: start + 1 };
  return symbolAt(text, start, limit);
}

function compares(text: string, at: number, limit: number): boolean {
  const after = text[at + 1] === "=" ? at + 2 : at + 1;
  return isBlank(text[at - 1]) && after < limit && (text[after] === " " || text[after] === "\t");
}

function nameAt(text: string, start: number, limit: number): Token {
  let end = start + 1;
  while (end < limit && continuesName(text[end])) end++;
  // `a-b` would subtract where a name with a hyphen is meant.
  if (text[end] === "-" && end + 1 < limit && continuesName(text[end + 1])) {
    throw new ExpressionError(
      "syntax",
      `a name with a hyphen is written ["like-this"], and a subtraction with blanks, a - b`,
      end,
    );
  }
  return { kind: "name", start, end, text: text.slice(start, end) };
}

function numberAt(text: string, start: number, limit: number): Token {
  let end = start + 1;
  while (end < limit && isDigit(text[end])) end++;
  if (text[end] === "." && end + 1 < limit && isDigit(text[end + 1])) {
    end++;
    while (end < limit && isDigit(text[end])) end++;
  }
  const value = Number(text.slice(start, end));
  // A longer number would silently become another one.
  if (value > Number.MAX_SAFE_INTEGER) {
    throw new ExpressionError("syntax", "the number is too large; write it as a string", start);
  }
  return { kind: "number", start, end, value };
}

function stringAt(text: string, start: number, limit: number): Token {
  const quote = text.charAt(start);
  let value = "";
  for (let at = start + 1; at < limit;) {
    const c = text.charAt(at);
    if (c === quote) return { kind: "string", start, end: at + 1, text: value };
    if (c === "\n") break;
    if (c === "<" && text[at + 1] === "+") {
      throw new ExpressionError(
        "syntax",
        "an expression inside quotes is not replaced; write it without the quotes",
        at,
      );
    }
    const { char, end } = c === "\\" ? escapeAt(text, at + 1, limit) : { char: c, end: at + 1 };
    value += char;
    at = end;
  }
  throw new ExpressionError("syntax", `the string has no closing ${quote}`, start);
}

/** The character that an escape stands for. As in JEXL, a backslash that begins none stays, as in the pattern "\\d+". */
function escapeAt(text: string, at: number, limit: number): { readonly char: string; readonly end: number } {
  const c = at < limit ? text.charAt(at) : "";
  if (c === "u") {
    const hex = text.slice(at + 1, Math.min(at + 5, limit));
    if (/^[0-9A-Fa-f]{4}$/.test(hex)) return { char: String.fromCharCode(Number.parseInt(hex, 16)), end: at + 5 };
    throw new ExpressionError("syntax", "after \\u four hexadecimal digits are needed", at - 1);
  }
  const value = Object.hasOwn(ESCAPES, c) ? ESCAPES[c] : undefined;
  return value === undefined ? { char: "\\", end: at } : { char: value, end: at + 1 };
}

/** Characters of other languages, and what stands for them here. */
const INSTEAD: Readonly<Record<string, string>> = {
  "=": "; == compares",
  "&": "; && is 'and'",
  "|": "; || is 'or'",
  "{": "; a list is written [1, 2]",
};

/** By their first character, the longer ones first. */
const SYMBOLS_BY_CHAR: ReadonlyMap<string, readonly SymbolText[]> = Map.groupBy(SYMBOLS, (symbol) => symbol.charAt(0));

/** The longest symbol that stands there. */
function symbolAt(text: string, start: number, limit: number): Token {
  for (const symbol of SYMBOLS_BY_CHAR.get(text.charAt(start)) ?? []) {
    const end = start + symbol.length;
    if (end <= limit && text.startsWith(symbol, start)) return { kind: "symbol", start, end, symbol };
  }
  const found = String.fromCodePoint(text.codePointAt(start) ?? 0);
  const instead = Object.hasOwn(INSTEAD, found) ? INSTEAD[found] : "";
  throw new ExpressionError("syntax", `'${found}' is not understood here${instead}`, start);
}
