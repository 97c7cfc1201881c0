import type { Command } from "./command.ts";
import { refuseFlows } from "./flow.ts";
import { commands, nextCommand, parentheses, type Commands } from "./frames.ts";
import { bodyOf, delimiterAt } from "./heredoc.ts";
import {
  backquote,
  backslash,
  dollar,
  doubleParenthesis,
  holeWhereNothingExpands,
  inArithmetic,
  inDouble,
  inHeredoc,
  inParameter,
  insideBackquotes,
  singleQuoted,
} from "./quotes.ts";
import { HEREDOC_DELIMITER, QUOTED_HEREDOC } from "./reasons.ts";
import { hole, leave, literally, looksAt, newScanner, pop, push, type Hole, type Scanner } from "./scanner.ts";
import { checked } from "./variables.ts";
import { beginTest, endClause, endWord } from "./words.ts";

/**
 * Finds every expression of a Bash script and decides whether Bash would put the
 * value of a variable there, and only its value. Expressions in comments are left
 * out. Throws ExpressionError when something that begins like an expression is none.
 *
 * It follows quotes, substitutions, here-documents and arithmetic exactly, and
 * commands as far as needed to know where a word begins and what evaluates it.
 */
export function scanBash(script: string): readonly Hole[] {
  const scanner = newScanner(script);
  scanTo(scanner, script.length);
  refuseFlows(scanner);
  return scanner.holes;
}

/** Scans up to `end` and leaves whatever was opened on the way. */
function scanTo(scanner: Scanner, end: number): void {
  const outer = { end: scanner.end, depth: scanner.frames.length };
  scanner.end = end;
  while (scanner.at < end) character(scanner);
  scanner.end = outer.end;
  for (const frame of scanner.frames.slice(outer.depth - 1)) if (frame.kind === "commands") endWord(scanner, frame);
  leave(scanner, outer.depth);
}

function character(scanner: Scanner): void {
  const frame = scanner.frames.at(-1);
  switch (frame?.kind) {
    case "commands":
      return inCommands(scanner, frame);
    case "double":
      return inDouble(scanner);
    case "arithmetic":
      return inArithmetic(scanner, frame);
    case "parameter":
      return inParameter(scanner, frame);
    case "heredoc":
      return inHeredoc(scanner);
    case undefined:
      scanner.frames.push(commands("", null));
  }
}

function inCommands(scanner: Scanner, frame: Commands): void {
  const c = scanner.text.charAt(scanner.at);
  switch (c) {
    case "\\":
      return backslash(scanner);
    case "'":
      return singleQuoted(scanner, false);
    case '"':
      literally(scanner);
      return push(scanner, { kind: "double" }, 0);
    case "$":
      return dollar(scanner, false);
    case "`":
      return backquote(scanner);
    case "<":
      return lessThan(scanner, frame);
    case " ":
    case "\t":
      endWord(scanner, frame);
      scanner.at++;
      return;
    default:
      return frame.command.test ? inTest(scanner, frame, c) : inPlain(scanner, frame, c);
  }
}

function inPlain(scanner: Scanner, frame: Commands, c: string): void {
  switch (c) {
    case "#":
      return frame.command.word === null ? comment(scanner) : literally(scanner);
    case "(":
      return openParenthesis(scanner, frame);
    case ")":
      return closeParenthesis(scanner, frame);
    case ">":
      return redirection(scanner, frame, 1);
    case "\n":
    case ";":
    case "&":
    case "|":
      return endCommand(scanner, frame, c);
    default:
      literally(scanner);
  }
}

/** Inside `[[ … ]]` parentheses, `<` and `|` belong to the test; `&&` and `||` end a clause of it. */
function inTest(scanner: Scanner, frame: Commands, c: string): void {
  if (frame.command.word === "]]" && "\n;&|()>".includes(c)) {
    endWord(scanner, frame);
    return inPlain(scanner, frame, c);
  }
  if (c === "\n") {
    endWord(scanner, frame);
    scanner.at++;
    return bodies(scanner, frame);
  }
  if (looksAt(scanner, "&&") || looksAt(scanner, "||")) {
    endWord(scanner, frame);
    endClause(scanner, frame);
    beginTest(frame);
    scanner.at += 2;
    return;
  }
  literally(scanner);
}

/** A newline, `;`, `&` or `|`. `>&`, `<&` and `&>` are redirections and end no command. */
function endCommand(scanner: Scanner, frame: Commands, c: string): void {
  const before = scanner.text[scanner.at - 1];
  if (c === "&" && (before === ">" || before === "<" || looksAt(scanner, ">", 1)))
    return redirection(scanner, frame, 1);
  endWord(scanner, frame);
  const { command } = frame;
  const isPipe = c === "|" && before !== "|" && !looksAt(scanner, "||");
  if (isPipe) for (const name of command.printed) checked(scanner, name);
  if (looksAt(scanner, ";;") || looksAt(scanner, ";&")) {
    if (frame.cases.at(-1) === "body") frame.cases[frame.cases.length - 1] = "pattern";
    scanner.at++;
  }
  // A line break or the & of `|&` after a pipe is not the end of the command that it leads to.
  if (!(command.piped && command.name === null && (c === "\n" || before === "|")))
    nextCommand(frame, isPipe ? command : undefined);
  scanner.at++;
  if (c === "\n") bodies(scanner, frame);
}

function redirection(scanner: Scanner, frame: Commands, length: number): void {
  // In `2>file` the digits belong to the redirection.
  if (/^[0-9]+$/.test(frame.command.word ?? "")) frame.command.word = null;
  endWord(scanner, frame);
  if (looksAt(scanner, ">(")) return push(scanner, commands(")", null), 2);
  frame.command.redirected = length === 3 ? "string" : "file";
  scanner.at += length;
}

/** The last `<` of several belongs to an expression when a `+` follows: `<<+a>` reads from the file that it names. */
function lessThan(scanner: Scanner, frame: Commands): void {
  let run = 1;
  while (looksAt(scanner, "<", run)) run++;
  const length = looksAt(scanner, "+", run) ? run - 1 : run;
  if (length === 0) return hole(scanner);
  if (frame.command.test) return literally(scanner, length);
  if (length === 1 && looksAt(scanner, "<(")) {
    literally(scanner);
    return push(scanner, commands(")", { command: frame.command, as: "file" }), 1);
  }
  if (length !== 2) return redirection(scanner, frame, length);
  endWord(scanner, frame);
  scanner.at += 2;
  announceHeredoc(scanner, frame);
}

function announceHeredoc(scanner: Scanner, frame: Commands): void {
  const blanks = /^-?[ \t]*/.exec(scanner.text.slice(scanner.at, scanner.at + 64))?.[0].length ?? 0;
  if (looksAt(scanner, "<+", blanks)) {
    scanner.at += blanks;
    return hole(scanner, HEREDOC_DELIMITER);
  }
  const { heredoc, end } = delimiterAt(scanner.text, scanner.at);
  frame.pending.push({ heredoc, reader: frame.command });
  scanner.at = Math.min(end, scanner.end);
}

/** The here-documents that the line before announced, in their order. */
function bodies(scanner: Scanner, { pending }: Commands): void {
  for (let next = pending.shift(); next; next = pending.shift()) {
    const { heredoc, reader } = next;
    const { end, after } = bodyOf(scanner.text, scanner.at, scanner.end, heredoc);
    if (heredoc.quoted) literalBody(scanner, end);
    else expandingBody(scanner, end, reader);
    scanner.at = after;
  }
}

function expandingBody(scanner: Scanner, end: number, reader: Command): void {
  const depth = scanner.frames.length;
  push(scanner, { kind: "heredoc", reader }, 0);
  scanTo(scanner, end);
  // A backquote in the body may have closed more than the body opened.
  leave(scanner, depth);
}

function literalBody(scanner: Scanner, end: number): void {
  for (
    let at = scanner.text.indexOf("<+", scanner.at);
    at >= 0 && at < end;
    at = scanner.text.indexOf("<+", scanner.at)
  ) {
    scanner.at = at;
    holeWhereNothingExpands(scanner, QUOTED_HEREDOC);
  }
  // The body is no part of the word that would begin the next line.
  const frame = scanner.frames.at(-1);
  if (frame?.kind === "commands") frame.command.word = null;
}

function comment(scanner: Scanner): void {
  const backquoted = insideBackquotes(scanner);
  while (scanner.at < scanner.end && !looksAt(scanner, "\n") && !(backquoted && looksAt(scanner, "`"))) scanner.at++;
}

function openParenthesis(scanner: Scanner, frame: Commands): void {
  const { command } = frame;
  const between = command.word === null;
  if (between && frame.cases.at(-1) === "pattern") {
    scanner.at++;
    return;
  }
  if (between && looksAt(scanner, "((") && (command.name === null || command.name === "for")) {
    return doubleParenthesis(scanner);
  }
  if (looksAt(scanner, "()")) {
    // A function is being defined: what follows is a command again.
    nextCommand(frame);
    scanner.at += 2;
    return;
  }
  push(scanner, parentheses(frame, !between), 1);
}

function closeParenthesis(scanner: Scanner, frame: Commands): void {
  endWord(scanner, frame);
  if (frame.cases.at(-1) === "pattern") {
    frame.cases[frame.cases.length - 1] = "body";
    nextCommand(frame);
    scanner.at++;
  } else if (frame.closes === ")") pop(scanner, 1);
  else scanner.at++;
}
