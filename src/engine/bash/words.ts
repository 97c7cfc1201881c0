import { takeWord, type Taken } from "./command.ts";
import { nextCommand, type Commands } from "./frames.ts";
import { INTEGER, NAME, SEQUENCE, type Ruling } from "./reasons.ts";
import { rule, type Scanner } from "./scanner.ts";
import { assigned, calculated, checked } from "./variables.ts";

const OPENS = new Set(["{", "if", "do"]);
const CLOSES = new Set(["}", "fi", "done"]);

/** Operators of `[[` that evaluate their operands. */
const EVALUATING_TESTS: ReadonlyMap<string, Ruling> = new Map<string, Ruling>([
  ...["-eq", "-ne", "-lt", "-le", "-gt", "-ge"].map((operator): [string, Ruling] => [operator, INTEGER]),
  ["-v", NAME],
  ["-R", NAME],
]);

/** What a blank, an operator or the end of its surroundings means for the word before it. */
export function endWord(scanner: Scanner, frame: Commands): void {
  const { command } = frame;
  if (command.test) return endTestWord(scanner, frame);
  const mayBegin = !command.redirected && (command.name === null || beginsCoprocess(frame));
  const taken = takeWord(command);
  if (taken === undefined || frame.list) return;
  markWord(scanner, frame, taken);
  const { word, holes, ruling } = taken;
  const phase = frame.cases.at(-1);
  if (ruling !== undefined && phase !== "pattern") rule(scanner, holes, ruling);
  if (holes.length > 0 && hasSequence(word)) rule(scanner, holes, SEQUENCE);
  assigned(scanner, command, taken);
  if (command.reserved === "coproc") scanner.hasCoprocess = true;
  if (scanner.hasCoprocess && command.input) scanner.runsCoprocess = true;
  if (word === "in" && phase === "word") {
    frame.cases[frame.cases.length - 1] = "pattern";
    nextCommand(frame);
  } else if (command.reserved === "function" && command.name !== null) nextCommand(frame);
  else if (mayBegin) keyword(frame, word);
}

/** `coproc NAME { … }`: what was taken for the command's name is that of the coprocess. */
function beginsCoprocess({ command }: Commands): boolean {
  if (command.reserved !== "coproc" || command.previous !== null) return false;
  const begins = OPENS.has(command.word ?? "") || command.word === "while" || command.word === "until";
  if (begins) command.name = null;
  return begins;
}

/** Remembers the word that the expressions stand in, so that the line can be rewritten. */
function markWord(scanner: Scanner, { command }: Commands, { holes }: Taken): void {
  if (scanner.offsetOf(1) !== 1) return;
  const word = { command: command.from ?? command.wordFrom, from: command.wordFrom, to: scanner.at };
  for (const index of holes) {
    const found = scanner.holes[index];
    if (found) found.word = word;
  }
}

/** `{1..n}` outside of quotes with an expression in it. */
const hasSequence = (word: string): boolean =>
  /\{[^{},]*\.\.[^{},]*\}/.exec(word.replace(/"[^"]*"|'[^']*'|\\./g, ""))?.[0].includes("\0") === true;

function keyword(frame: Commands, word: string): void {
  const phase = frame.cases.at(-1);
  if (word === "esac" && phase !== undefined) {
    frame.cases.pop();
    closeGroup(frame);
  } else if (word === "case" && phase !== "pattern") {
    frame.cases.push("word");
    frame.groups.push(frame.command);
  } else if (word === "[[") beginTest(frame);
  else if (OPENS.has(word)) {
    frame.groups.push(frame.command);
    nextCommand(frame);
  } else if (CLOSES.has(word)) closeGroup(frame);
}

/** What follows the end of a group, a pipe or a redirection, belongs to all of it. */
function closeGroup(frame: Commands): void {
  const group = frame.groups.pop();
  if (!group) return nextCommand(frame);
  group.name = null;
  frame.command = group;
}

export function beginTest({ command }: Commands): void {
  command.test = { holes: [], variables: [], ruling: null };
}

/** The end of a clause: what it compared as text has been looked at. */
export function endClause(scanner: Scanner, { command }: Commands): void {
  if (command.test && command.test.ruling === null) for (const name of command.test.variables) checked(scanner, name);
}

function endTestWord(scanner: Scanner, frame: Commands): void {
  const { command } = frame;
  const { test } = command;
  const word = command.word ?? "";
  command.word = null;
  command.holes = [];
  if (!test) return;
  if (word === "]]") {
    endClause(scanner, frame);
    command.test = null;
  }
  const ruling = EVALUATING_TESTS.get(word);
  if (ruling === undefined) return;
  test.ruling = ruling;
  rule(scanner, test.holes, ruling);
  for (const name of test.variables) calculated(scanner, name);
}
