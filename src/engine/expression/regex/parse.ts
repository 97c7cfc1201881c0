/**
 * Reads regular expressions in the syntax that Java, JavaScript and RE2 have in common. What needs backtracking (look
 * around, back references, possessive quantifiers) is refused by name.
 */
import { ExpressionError } from "../error.ts";
import { MAX_NESTING, MAX_PATTERN_CHARS, MAX_PATTERN_GROUPS, MAX_PATTERN_REPEATS } from "../limits.ts";
import { anyChar, type CharSet, CLASSES, type ParsedPattern, type Pattern, type Range, rangesOf } from "./syntax.ts";

type Reader = {
  readonly text: string;
  /** Where the expression calls for the pattern, for messages. */
  readonly call: number;
  at: number;
  groups: number;
  nesting: number;
  dotAll: boolean;
};

/** Throws ExpressionError, at the offset `call`. */
export function parsePattern(text: string, call: number): ParsedPattern {
  if (text.length > MAX_PATTERN_CHARS) {
    throw new ExpressionError("limit", `a pattern has more than ${MAX_PATTERN_CHARS} characters`, call);
  }
  const reader: Reader = { text, call, at: 0, groups: 0, nesting: 0, dotAll: false };
  const flags = /^\(\?([is]+)\)/.exec(text);
  if (flags) {
    reader.at = flags[0].length;
    reader.dotAll = flags[1]?.includes("s") === true;
  }
  const root = choice(reader);
  if (reader.at < text.length) throw fault(reader, "a ) has no (");
  return { root, groups: reader.groups, ignoresCase: flags?.[1]?.includes("i") === true };
}

const fault = (reader: Reader, message: string): ExpressionError =>
  new ExpressionError("syntax", `the pattern is wrong at character ${reader.at + 1}: ${message}`, reader.call);

const peek = (reader: Reader): string => reader.text.charAt(reader.at);

function accept(reader: Reader, text: string): boolean {
  if (!reader.text.startsWith(text, reader.at)) return false;
  reader.at += text.length;
  return true;
}

function choice(reader: Reader): Pattern {
  const options = [sequence(reader)];
  while (accept(reader, "|")) options.push(sequence(reader));
  return options.length === 1 && options[0] ? options[0] : { kind: "choice", options };
}

function sequence(reader: Reader): Pattern {
  const parts: Pattern[] = [];
  while (reader.at < reader.text.length && peek(reader) !== "|" && peek(reader) !== ")") {
    parts.push(repeated(reader, atom(reader)));
  }
  return { kind: "sequence", parts };
}

function repeated(reader: Reader, inner: Pattern): Pattern {
  const count = quantifier(reader);
  if (!count) return inner;
  if (inner.kind === "assertion") throw fault(reader, "there is nothing to repeat");
  const isGreedy = !accept(reader, "?");
  if (accept(reader, "+")) throw fault(reader, "possessive quantifiers are not supported");
  if (/^(?:[*+?]|\{\d)/.test(reader.text.slice(reader.at, reader.at + 2))) {
    throw fault(reader, "a quantifier follows a quantifier");
  }
  return { kind: "repeat", inner, ...count, isGreedy };
}

type Count = { readonly least: number; readonly most: number };

function quantifier(reader: Reader): Count | undefined {
  if (accept(reader, "*")) return { least: 0, most: Infinity };
  if (accept(reader, "+")) return { least: 1, most: Infinity };
  if (accept(reader, "?")) return { least: 0, most: 1 };
  if (peek(reader) !== "{") return undefined;
  // Counts have few digits, so the slice bounds what is looked at.
  const found = /^\{(\d{1,4})(?:(,)(\d{1,4})?)?\}/.exec(reader.text.slice(reader.at, reader.at + 12));
  if (!found) throw fault(reader, "a count is written {2}, {2,} or {2,5}; the character itself \\{");
  reader.at += found[0].length;
  const least = Number(found[1]);
  const most = found[2] === undefined ? least : found[3] === undefined ? Infinity : Number(found[3]);
  if (most < least) throw fault(reader, "the count ends before it begins");
  if (least > MAX_PATTERN_REPEATS || (most !== Infinity && most > MAX_PATTERN_REPEATS)) {
    throw fault(reader, `a count is more than ${MAX_PATTERN_REPEATS}`);
  }
  return { least, most };
}

function atom(reader: Reader): Pattern {
  const char = nextChar(reader);
  switch (char) {
    case "(":
      return group(reader);
    case "[":
      return { kind: "set", set: charClass(reader) };
    case ".":
      return { kind: "set", set: anyChar(reader.dotAll) };
    case "^":
      return { kind: "assertion", assertion: "start" };
    case "$":
      return { kind: "assertion", assertion: "end" };
    case "\\":
      return escape(reader);
    case "*":
    case "+":
    case "?":
    case "{":
      throw fault(reader, `there is nothing to repeat before ${char}`);
    default:
      return { kind: "set", set: only(char) };
  }
}

const only = (char: string): CharSet => {
  const code = char.codePointAt(0) ?? 0;
  return { ranges: [[code, code]], isNegated: false };
};

function nextChar(reader: Reader): string {
  const code = reader.text.codePointAt(reader.at);
  if (code === undefined) throw fault(reader, "it ends too early");
  const char = String.fromCodePoint(code);
  reader.at += char.length;
  return char;
}

function group(reader: Reader): Pattern {
  const isPlain = accept(reader, "?:");
  if (!isPlain && peek(reader) === "?") {
    throw fault(reader, "after (? only (?: is supported, and (?i) or (?s) at the beginning of the pattern");
  }
  if (++reader.nesting > MAX_NESTING) throw fault(reader, `it nests deeper than ${MAX_NESTING}`);
  const number = isPlain ? 0 : ++reader.groups;
  if (number > MAX_PATTERN_GROUPS) throw fault(reader, `it has more than ${MAX_PATTERN_GROUPS} groups`);
  const inner = choice(reader);
  if (!accept(reader, ")")) throw fault(reader, "a ( has no )");
  reader.nesting--;
  return isPlain ? inner : { kind: "group", number, inner };
}

const CONTROLS: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", f: "\f", v: "\v" };

function escape(reader: Reader): Pattern {
  if (accept(reader, "b")) return { kind: "assertion", assertion: "wordEdge" };
  if (accept(reader, "B")) return { kind: "assertion", assertion: "noWordEdge" };
  return { kind: "set", set: escapedSet(reader) };
}

function escapedSet(reader: Reader): CharSet {
  const char = nextChar(reader);
  const known = CLASSES.get(char);
  if (known) return known;
  if (Object.hasOwn(CONTROLS, char)) return only(CONTROLS[char] ?? "");
  if (char === "u" || char === "x") return only(hexadecimal(reader, char === "u" ? 4 : 2));
  if (/[1-9k]/.test(char)) throw fault(reader, "back references are not supported");
  if (/[A-Za-z0]/.test(char)) throw fault(reader, `\\${char} is not supported`);
  return only(char);
}

function hexadecimal(reader: Reader, digits: number): string {
  const text = reader.text.slice(reader.at, reader.at + digits);
  if (text.length < digits || !/^[0-9A-Fa-f]+$/.test(text))
    throw fault(reader, `${digits} hexadecimal digits are needed`);
  reader.at += digits;
  return String.fromCodePoint(Number.parseInt(text, 16));
}

/** What stands between `[`, already taken, and `]`. */
function charClass(reader: Reader): CharSet {
  const isNegated = accept(reader, "^");
  const ranges: Range[] = [];
  while (peek(reader) !== "]") {
    if (peek(reader) === "[" || reader.text.startsWith("&&", reader.at)) {
      throw fault(reader, "classes inside of classes are not supported; the characters are written \\[ and \\&");
    }
    ranges.push(...classItem(reader));
  }
  reader.at++;
  if (ranges.length === 0) throw fault(reader, "a class has no characters");
  return { ranges, isNegated };
}

function classItem(reader: Reader): readonly Range[] {
  const from = classChar(reader);
  const next = reader.text.charAt(reader.at + 1);
  if (peek(reader) !== "-" || next === "]" || next === "") return rangesOf(from);
  reader.at++;
  const [first, last] = [single(from), single(classChar(reader))];
  if (first === undefined || last === undefined) throw fault(reader, "a range needs a character on both sides");
  if (last < first) throw fault(reader, "a range ends before it begins");
  return [[first, last]];
}

const classChar = (reader: Reader): CharSet => (accept(reader, "\\") ? escapedSet(reader) : only(nextChar(reader)));

function single({ ranges, isNegated }: CharSet): number | undefined {
  const [first, ...others] = ranges;
  return first && others.length === 0 && !isNegated && first[0] === first[1] ? first[0] : undefined;
}
