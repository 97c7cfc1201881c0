import { refuseFlows } from "./flow.ts";
import { commands, nextCommand, parentheses, type Commands, type Heredoc } from "./frames.ts";
import { backquote } from "./backquote.ts";
import { bodyOf, delimiterAt, escapeBody, plainDelimiter } from "./heredoc.ts";
import {
  backslash,
  beginsExpression,
  dollar,
  doubleParenthesis,
  inArithmetic,
  inDouble,
  inHeredoc,
  inParameter,
  singleQuoted,
} from "./quotes.ts";
import { HEREDOC_DELIMITER, INTEGER } from "./reasons.ts";
import { hole, isKeyed, leave, literally, looksAt, newScanner, pop, push, rule, type Scanner } from "./scanner.ts";
import { checked } from "./variables.ts";
import { beginTest, endClause, endWord } from "./words.ts";

export type Scanned = Pick<Scanner, "holes" | "edits" | "names">;

/**
 * Finds every expression of a Bash script, decides whether Bash would put the
 * value of a variable there, and only its value, and says how to write the
 * variable. Expressions in comments are left out. `nameOf` names the variable of the nth expression.
 * Throws ExpressionError when something that begins like an expression is none.
 *
 * It follows quotes, substitutions, here-documents and arithmetic exactly, and
 * commands as far as needed to know where a word begins and what evaluates it.
 */
export function scanBash(script: string, nameOf: (nth: number) => string): Scanned {
  const scanner = newScanner(script, { nameOf, scanTo });
  scanTo(scanner, script.length);
  refuseFlows(scanner);
  return scanner;
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
      return singleQuoted(scanner, { form: "single" });
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
      return redirection(scanner, frame, looksAt(scanner, ">|") ? 2 : 1);
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
  const { word, holes } = frame.command;
  if (/^[0-9]+$/.test(word ?? "")) frame.command.word = null;
  // `{a[n]}>file` assigns the descriptor.
  if (/^\{\w+\[/.test(word ?? "")) rule(scanner, holes, INTEGER);
  endWord(scanner, frame);
  if (looksAt(scanner, ">(")) return feed(scanner, frame);
  const toDescriptor = looksAt(scanner, "&") && scanner.text[scanner.at - 1] === ">";
  frame.command.redirected = length === 3 ? "string" : toDescriptor ? "descriptor" : "file";
  scanner.at += length;
}

/** `>(…)`: the commands inside read what the command puts out. */
function feed(scanner: Scanner, { command }: Commands): void {
  const inside = commands(")", null);
  command.feeds.push(inside.command);
  push(scanner, inside, 2);
}

/** The last `<` of several belongs to an expression when a `+` follows: `<<+a>` reads from the file that it names. */
function lessThan(scanner: Scanner, frame: Commands): void {
  let run = 1;
  while (looksAt(scanner, "<", run)) run++;
  const length = looksAt(scanner, "+", run) ? run - 1 : run;
  if (length === 0) {
    hole(scanner);
    return;
  }
  if (frame.command.test) return literally(scanner, length);
  if (length === 1 && looksAt(scanner, "<(")) {
    literally(scanner);
    // `bash < <(…)` reads it as its input.
    const as = frame.command.redirected === "file" ? "input" : "file";
    return push(scanner, commands(")", { command: frame.command, as }), 1);
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
    hole(scanner, "bare", HEREDOC_DELIMITER);
    return;
  }
  const heredoc = delimiterAt(scanner.text, scanner.at);
  frame.pending.push({ heredoc, reader: frame.command });
  scanner.at = Math.min(heredoc.to, scanner.end);
}

/** The here-documents that the line before announced, in their order. */
function bodies(scanner: Scanner, { pending }: Commands): void {
  for (let next = pending.shift(); next; next = pending.shift()) {
    const { heredoc, reader } = next;
    const { end, after } = bodyOf(scanner.text, scanner.at, scanner.end, heredoc);
    const depth = scanner.frames.length;
    push(scanner, { kind: "heredoc", reader }, 0);
    if (heredoc.quoted) literalBody(scanner, heredoc, end);
    else scanTo(scanner, end);
    leave(scanner, depth);
    scanner.at = after;
  }
}

/** With an expression in it, the body is written so that Bash expands it and puts out every other byte as it is. */
function literalBody(scanner: Scanner, heredoc: Heredoc, end: number): void {
  const { text, at: start } = scanner;
  const pieces: string[] = [];
  let done = start;
  for (let at = text.indexOf("<+", start); at >= 0 && at < end; at = text.indexOf("<+", scanner.at)) {
    scanner.at = at;
    if (!beginsExpression(scanner)) scanner.at += 2;
    else {
      pieces.push(escapeBody(text.slice(done, at)), hole(scanner, "body"));
      done = scanner.at;
    }
  }
  if (done === start) return;
  const body = text.slice(start, end);
  const delimiter = plainDelimiter(heredoc, body);
  scanner.edits.push({ start: heredoc.from, end: heredoc.to, text: delimiter });
  scanner.edits.push({ start, end, text: pieces.join("") + escapeBody(text.slice(done, end)) });
  if (delimiter !== heredoc.delimiter) {
    const line = text.indexOf("\n", end);
    const to = line < 0 || line > scanner.end ? scanner.end : line;
    if (end < to || text[end] === "\n") scanner.edits.push({ start: end, end: to, text: delimiter });
  }
}

function comment(scanner: Scanner): void {
  while (scanner.at < scanner.end && !looksAt(scanner, "\n")) scanner.at++;
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
  const definition = /^\([ \t]*\)/.exec(scanner.text.slice(scanner.at, scanner.at + 64))?.[0];
  if (definition !== undefined && command.word?.endsWith("=") !== true) {
    // A function is being defined: what follows is a command again.
    nextCommand(frame);
    scanner.at += definition.length;
    return;
  }
  const array = /^\w+/.exec(command.word ?? "")?.[0] ?? "";
  const isKeyedArray = isKeyed(scanner, array) || command.flags.includes("A");
  push(scanner, parentheses(frame, !between && (isKeyedArray ? "keyed" : "indexed")), 1);
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
