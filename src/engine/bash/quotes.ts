import { backquote } from "./backquote.ts";
import { commands, type Arithmetic, type Parameter } from "./frames.ts";
import {
  AFTER_DOLLAR,
  ANSI_IN_PARAMETER,
  ARITHMETIC_QUOTED,
  CONTINUED,
  DEFAULT_QUOTED,
  ESCAPED,
  PARAMETER,
  UNCLEAR,
  type Reason,
} from "./reasons.ts";
import {
  addToWord,
  hole,
  isKeyed,
  literally,
  looksAt,
  pop,
  push,
  rule,
  sinkHere,
  type Form,
  type Scanner,
} from "./scanner.ts";
import { used } from "./variables.ts";

/** A `<+` where nothing expands is an expression only when it begins like one: `'s/<+/x/'` is left alone. */
export const beginsExpression = ({ text, at }: Scanner): boolean => /^<\+ ?[A-Za-z_("'<!]/.test(text.slice(at, at + 4));

type Quotes = { readonly form: Form; readonly refusal?: Reason };

/** '…' or, with the form "ansi", $'…', where a backslash escapes. */
export function singleQuoted(scanner: Scanner, { form, refusal }: Quotes): void {
  const isAnsi = form === "ansi";
  literally(scanner, isAnsi ? 2 : 1);
  while (scanner.at < scanner.end) {
    if (looksAt(scanner, "'")) return literally(scanner);
    if (beginsExpression(scanner)) hole(scanner, form, refusal);
    else literally(scanner, isAnsi && looksAt(scanner, "\\") ? 2 : 1);
  }
}

/**
 * '…' in a default value inside double quotes: Bash pairs the quotes up and puts them out, and expands what stands
 * between them. What would open something there is not followed.
 */
function quotedDefault(scanner: Scanner): void {
  const first = scanner.holes.length;
  let opens = false;
  literally(scanner);
  while (scanner.at < scanner.end && !looksAt(scanner, "'")) {
    opens ||= /[$`"\\]/.test(scanner.text.charAt(scanner.at));
    if (beginsExpression(scanner)) hole(scanner);
    else literally(scanner);
  }
  literally(scanner);
  const found = scanner.holes.length - first;
  if (opens)
    rule(
      scanner,
      Array.from({ length: found }, (_, nth) => first + nth),
      DEFAULT_QUOTED,
    );
}

/** Operators that a backslash at the end of a line can cut in two. */
const OPERATORS = new Set("$( ${ $[ $' $\" (( )) << <( >( >> <& >& &> && || |& ;; ;& [[ ]] <+".split(" "));

export function backslash(scanner: Scanner): void {
  const { text, at } = scanner;
  if (looksAt(scanner, "<+", 1)) {
    literally(scanner);
    hole(scanner, "bare", ESCAPED);
  } else if (looksAt(scanner, "\n", 1)) {
    if (OPERATORS.has(text.charAt(at - 1) + text.charAt(at + 2))) scanner.unclear = CONTINUED;
    scanner.at += 2;
  } else literally(scanner, 2);
}

const arithmetic = (opens: "(" | "[", depth: number, key = false): Arithmetic => ({
  kind: "arithmetic",
  opens,
  closes: opens === "(" ? ")" : "]",
  key,
  depth,
});

/** What a `$` begins. Inside double quotes `$'` and `$"` begin nothing. */
export function dollar(scanner: Scanner, quoted: boolean): void {
  if (looksAt(scanner, "<+", 1)) {
    scanner.at++;
    hole(scanner, "bare", AFTER_DOLLAR);
    return;
  }
  if (!quoted && looksAt(scanner, "'", 1)) return singleQuoted(scanner, { form: "ansi" });
  addToWord(scanner, "$");
  if (!quoted && looksAt(scanner, '"', 1)) return push(scanner, { kind: "double", isTranslated: true }, 2);
  if (looksAt(scanner, "((", 1)) return push(scanner, arithmetic("(", 2), 3);
  if (looksAt(scanner, "(", 1)) return push(scanner, commands(")", sinkHere(scanner)), 2);
  if (looksAt(scanner, "[", 1)) return push(scanner, arithmetic("[", 1), 2);
  if (looksAt(scanner, "{", 1)) return parameter(scanner, quoted);
  scanner.at += /[#$!?*@-]/.test(scanner.text.charAt(scanner.at + 1)) ? 2 : 1;
  variable(scanner, scanner.at);
}

const IDENTIFIER = /[A-Za-z_][A-Za-z0-9_]*/y;

/** Where the name that begins at `at` ends; `at` itself when none does. */
function variable(scanner: Scanner, at: number): number {
  // Only scripts with something to look for pay for it.
  if (scanner.unchecked.size === 0) return at;
  IDENTIFIER.lastIndex = at;
  const name = IDENTIFIER.exec(scanner.text)?.[0];
  if (name === undefined) return at;
  used(scanner, name);
  return at + name.length;
}

/** `((` where a command may begin. */
export const doubleParenthesis = (scanner: Scanner): void => push(scanner, arithmetic("(", 2), 2);

/** `${`, up to and including the name; what follows the name decides the rest. */
function parameter(scanner: Scanner, quoted: boolean): void {
  const frame: Parameter = { kind: "parameter", quoted, name: "", phase: "operator" };
  push(scanner, frame, 2);
  if (/^[!#][A-Za-z0-9_@*#?$!-]/.test(scanner.text.slice(scanner.at, scanner.at + 2))) scanner.at++;
  if (looksAt(scanner, "<+")) {
    hole(scanner, "bare", PARAMETER);
    return;
  }
  const start = scanner.at;
  variable(scanner, start);
  while (scanner.at < scanner.end && /[A-Za-z0-9_]/.test(scanner.text.charAt(scanner.at))) scanner.at++;
  frame.name = scanner.text.slice(start, scanner.at);
  if (scanner.at === start && /[@*#?$!-]/.test(scanner.text.charAt(start))) scanner.at++;
}

/** One character inside `${…}`. */
export function inParameter(scanner: Scanner, frame: Parameter): void {
  const c = scanner.text.charAt(scanner.at);
  if (c === "}") return pop(scanner, 1);
  if (frame.phase === "operator") return operator(scanner, frame, c);
  if (frame.phase === "arithmetic") return inArithmeticText(scanner, false);
  if (frame.quoted && looksAt(scanner, "$'"))
    return singleQuoted(scanner, { form: "ansi", refusal: ANSI_IN_PARAMETER });
  if (c !== "'") return inExpandingText(scanner, frame.quoted);
  if (frame.quoted && frame.phase === "default") quotedDefault(scanner);
  else singleQuoted(scanner, { form: "single" });
}

/** After the name: a subscript, an offset, or a word that Bash expands (a default value, a pattern). */
function operator(scanner: Scanner, frame: Parameter, c: string): void {
  if (c === "[") return push(scanner, arithmetic("[", 1, isKeyed(scanner, frame.name)), 1);
  if (looksAt(scanner, "<+")) {
    hole(scanner);
    return;
  }
  const after = scanner.text.charAt(scanner.at + 1);
  const isDefault = /[-=?+]/.test(c) || (c === ":" && after !== "" && /[-=?+]/.test(after));
  if (isDefault) frame.phase = "default";
  else frame.phase = c === ":" ? "arithmetic" : "pattern";
  scanner.at += c === ":" && isDefault ? 2 : 1;
}

/** One character inside arithmetic. */
export function inArithmetic(scanner: Scanner, frame: Arithmetic): void {
  const c = scanner.text.charAt(scanner.at);
  if (c === frame.opens) frame.depth++;
  if (c === frame.closes) frame.depth--;
  // Arithmetic ends with both parentheses in one go.
  if (c === ")" && frame.depth === 1 && scanner.text.charAt(scanner.at + 1) !== ")") scanner.unclear ??= UNCLEAR;
  if (frame.depth === 0) return pop(scanner, 1);
  inArithmeticText(scanner, frame.key);
}

function inArithmeticText(scanner: Scanner, key: boolean): void {
  if (looksAt(scanner, "$'")) return singleQuoted(scanner, { form: "ansi", refusal: ANSI_IN_PARAMETER });
  if (looksAt(scanner, "'"))
    return singleQuoted(scanner, key ? { form: "single" } : { form: "single", refusal: ARITHMETIC_QUOTED });
  const end = variable(scanner, scanner.at);
  if (end > scanner.at) scanner.at = Math.min(end, scanner.end);
  else inExpandingText(scanner, false);
}

/** One character where `$`, backquotes, backslashes and double quotes keep their meaning. */
export function inExpandingText(scanner: Scanner, quoted: boolean): void {
  const c = scanner.text.charAt(scanner.at);
  if (c === "\\") return backslash(scanner);
  if (c === "$") return dollar(scanner, quoted);
  if (c === "`") return backquote(scanner);
  if (c === '"') return push(scanner, { kind: "double" }, 1);
  if (looksAt(scanner, "<+")) hole(scanner);
  else literally(scanner);
}

/** One character inside "…". */
export function inDouble(scanner: Scanner): void {
  if (!looksAt(scanner, '"')) return inExpandingText(scanner, true);
  literally(scanner);
  scanner.frames.pop();
}

/** One character of a here-document that expands; a double quote is a character like others there. */
export function inHeredoc(scanner: Scanner): void {
  if (looksAt(scanner, '"')) literally(scanner);
  else inExpandingText(scanner, true);
}
