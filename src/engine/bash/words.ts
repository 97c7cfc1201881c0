import { EVALUATING_TESTS, takeWord } from "./command.ts";
import { nextCommand, type Commands } from "./frames.ts";
import { ARITHMETIC } from "./reasons.ts";
import { refuse, type Scanner } from "./scanner.ts";
import { assigned, calculated, checked } from "./variables.ts";

const OPENS = new Set(["{", "if", "do"]);
const CLOSES = new Set(["}", "fi", "done"]);

/** What a blank, an operator or the end of its surroundings means for the word before it. */
export function endWord(scanner: Scanner, frame: Commands): void {
  const { command } = frame;
  if (command.test) return endTestWord(scanner, frame);
  const mayBegin = command.name === null && !command.redirected;
  const taken = takeWord(command);
  if (taken === undefined || frame.list) return;
  const { word, holes, refusal } = taken;
  const phase = frame.cases.at(-1);
  if (refusal !== undefined && phase !== "pattern") refuse(scanner, holes, refusal);
  assigned(scanner, command, word, holes);
  if (word === "in" && phase === "word") {
    frame.cases[frame.cases.length - 1] = "pattern";
    nextCommand(frame);
  } else if (mayBegin) keyword(frame, word);
}

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
  command.test = { holes: [], variables: [], arithmetic: false };
}

/** The end of a clause: what it compared as text has been looked at. */
export function endClause(scanner: Scanner, { command }: Commands): void {
  if (command.test && !command.test.arithmetic) for (const name of command.test.variables) checked(scanner, name);
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
  if (!EVALUATING_TESTS.has(word)) return;
  test.arithmetic = true;
  refuse(scanner, test.holes, ARITHMETIC);
  for (const name of test.variables) calculated(scanner, name);
}
