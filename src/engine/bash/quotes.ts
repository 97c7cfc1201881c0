import { commands, type Arithmetic, type Parameter } from "./frames.ts";
import { AFTER_DOLLAR, ANSI_QUOTED, ESCAPED, PARAMETER, SINGLE_QUOTED } from "./reasons.ts";
import { addToWord, hole, leave, literally, looksAt, pop, push, sinkHere, type Scanner } from "./scanner.ts";
import { used } from "./variables.ts";
import { endWord } from "./words.ts";

/** A `<+` where nothing expands is an expression only when it begins like one: `'s/<+/x/'` is left alone. */
export function holeWhereNothingExpands(scanner: Scanner, refusal: string): void {
  if (/^ ?[A-Za-z_("'<!]/.test(scanner.text.slice(scanner.at + 2, scanner.at + 4))) hole(scanner, refusal);
  else literally(scanner, 2);
}

/** '…' or, with `ansi`, $'…', where a backslash escapes. */
export function singleQuoted(scanner: Scanner, ansi: boolean): void {
  literally(scanner, ansi ? 2 : 1);
  while (scanner.at < scanner.end) {
    if (looksAt(scanner, "'")) return literally(scanner);
    if (looksAt(scanner, "<+")) holeWhereNothingExpands(scanner, ansi ? ANSI_QUOTED : SINGLE_QUOTED);
    else literally(scanner, ansi && looksAt(scanner, "\\") ? 2 : 1);
  }
}

const backquotesAt = (scanner: Scanner): number =>
  scanner.frames.findLastIndex((frame) => frame.kind === "commands" && frame.closes === "`");

export const insideBackquotes = (scanner: Scanner): boolean => backquotesAt(scanner) >= 0;

/** Bash looks for the closing backquote before anything else, so it ends whatever is open inside. */
export function backquote(scanner: Scanner): void {
  const open = backquotesAt(scanner);
  if (open < 0) {
    addToWord(scanner, "$");
    return push(scanner, commands("`", sinkHere(scanner)), 1);
  }
  for (const frame of scanner.frames.slice(open)) if (frame.kind === "commands") endWord(scanner, frame);
  leave(scanner, open);
  scanner.at++;
}

export function backslash(scanner: Scanner): void {
  if (looksAt(scanner, "<+", 1)) {
    literally(scanner);
    return hole(scanner, ESCAPED);
  }
  if (looksAt(scanner, "\n", 1)) scanner.at += 2;
  else literally(scanner, 2);
}

const arithmetic = (opens: "(" | "[", depth: number): Arithmetic => ({
  kind: "arithmetic",
  opens,
  closes: opens === "(" ? ")" : "]",
  depth,
});

/** What a `$` begins. Inside double quotes `$'` and `$"` begin nothing. */
export function dollar(scanner: Scanner, quoted: boolean): void {
  if (looksAt(scanner, "<+", 1)) {
    scanner.at++;
    return hole(scanner, AFTER_DOLLAR);
  }
  if (!quoted && looksAt(scanner, "'", 1)) return singleQuoted(scanner, true);
  addToWord(scanner, "$");
  if (!quoted && looksAt(scanner, '"', 1)) return push(scanner, { kind: "double" }, 2);
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
  push(scanner, { kind: "parameter", quoted, phase: "operator" }, 2);
  if (/^[!#][A-Za-z0-9_@*#?$!-]/.test(scanner.text.slice(scanner.at, scanner.at + 2))) scanner.at++;
  if (looksAt(scanner, "<+")) return hole(scanner, PARAMETER);
  const start = scanner.at;
  variable(scanner, start);
  while (scanner.at < scanner.end && /[A-Za-z0-9_]/.test(scanner.text.charAt(scanner.at))) scanner.at++;
  if (scanner.at === start && /[@*#?$!-]/.test(scanner.text.charAt(start))) scanner.at++;
}

/** One character inside `${…}`. */
export function inParameter(scanner: Scanner, frame: Parameter): void {
  const c = scanner.text.charAt(scanner.at);
  if (c === "}") return pop(scanner, 1);
  if (frame.phase === "operator") return operator(scanner, frame, c);
  // Inside double quotes Bash pairs single quotes up too, and expands between them only in a default value.
  if (c === "'") return singleQuoted(scanner, false);
  inExpandingText(scanner, frame.quoted);
}

/** After the name: a subscript, an offset, or a word that Bash expands (a default value, a pattern). */
function operator(scanner: Scanner, frame: Parameter, c: string): void {
  if (c === "[") return push(scanner, arithmetic("[", 1), 1);
  if (looksAt(scanner, "<+")) return hole(scanner);
  const after = scanner.text.charAt(scanner.at + 1);
  const isDefault = /[-=?+]/.test(c) || (c === ":" && after !== "" && /[-=?+]/.test(after));
  frame.phase = c === ":" && !isDefault ? "arithmetic" : "word";
  scanner.at += c === ":" && isDefault ? 2 : 1;
}

/** One character inside arithmetic. */
export function inArithmetic(scanner: Scanner, frame: Arithmetic): void {
  const c = scanner.text.charAt(scanner.at);
  if (c === frame.opens) frame.depth++;
  if (c === frame.closes) frame.depth--;
  // Arithmetic ends with both parentheses in one go.
  if (c === ")" && frame.depth === 1 && scanner.text.charAt(scanner.at + 1) !== ")") scanner.unclear = true;
  if (frame.depth === 0) return pop(scanner, 1);
  if (c === "'") return singleQuoted(scanner, false);
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
  if (looksAt(scanner, "<+")) return hole(scanner);
  literally(scanner);
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
