import { ARITHMETIC, CODE, NAME, SUBSCRIPT } from "./reasons.ts";

/**
 * What is known of the simple command that is being read. It only serves to find
 * the places where Bash evaluates values as code, and where a `((`, a `#` or a
 * `)` means something else than elsewhere.
 */
export type Command = {
  /** The word so far; null between words. An expansion is one `$` in it. */
  word: string | null;
  /** The command's name; null as long as a name may still come. */
  name: string | null;
  previous: string | null;
  /** The next word belongs to a redirection. */
  redirected: boolean;
  /** Why the rest of the command is evaluated; null when it is not. */
  evaluated: string | null;
  /** A shell was named; its option -c makes the next word code. */
  shell: boolean;
  codeNext: boolean;
  /** Inside `[[ … ]]`: the expressions of the clause so far, and whether it compares numbers. */
  test: { holes: number[]; arithmetic: boolean } | null;
};

export const newCommand = (name: string | null = null): Command => ({
  word: null,
  name,
  previous: null,
  redirected: false,
  evaluated: null,
  shell: false,
  codeNext: false,
  test: null,
});

/** After these words a command's name may still come. */
const BEFORE_A_NAME = new Set(
  "if then elif else fi while until do done ! { } time coproc function builtin command exec".split(" "),
);
const EVALUATORS: ReadonlyMap<string, string> = new Map([
  ["eval", CODE],
  ["trap", CODE],
  ["let", ARITHMETIC],
]);
const SHELLS = new Set(["sh", "bash", "dash", "ksh", "zsh", "su"]);
const DECLARERS = new Set(["declare", "typeset", "local", "readonly", "export", "unset"]);
const NAME_AFTER_V = new Set(["test", "[", "printf"]);
/** Operators of `[[` that evaluate their operands. */
export const EVALUATING_TESTS: ReadonlySet<string> = new Set(["-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v"]);

const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*(?:\[[^\]]*\])?\+?=/;
const IN_SUBSCRIPT = /^"?[A-Za-z_][A-Za-z0-9_]*\[[^\]]*$/;

/** Why an expression may not stand at this place of the command; undefined when it may. */
export function refusalIn(command: Command): string | undefined {
  const word = command.word ?? "";
  if (command.evaluated !== null) return command.evaluated;
  if (command.codeNext) return CODE;
  if (IN_SUBSCRIPT.test(word)) return SUBSCRIPT;
  const name = command.name ?? "";
  if (DECLARERS.has(name) && !word.includes("=")) return NAME;
  return NAME_AFTER_V.has(name) && command.previous === "-v" ? NAME : undefined;
}

/** The word that a blank or an operator has ended; undefined when there was none. */
export function takeWord(command: Command): string | undefined {
  const { word } = command;
  if (word === null) return undefined;
  command.word = null;
  if (command.redirected) command.redirected = false;
  else if (command.name === null) nameRead(command, word);
  else argumentRead(command, word);
  return word;
}

function nameRead(command: Command, word: string): void {
  if (ASSIGNMENT.test(word) || BEFORE_A_NAME.has(word)) return;
  command.name = word;
  command.evaluated = EVALUATORS.get(word) ?? null;
  shellRead(command, word);
}

function argumentRead(command: Command, word: string): void {
  command.previous = word;
  command.codeNext = command.shell && !command.codeNext && /^-[A-Za-z]*c[A-Za-z]*$/.test(word);
  // What follows the code are its arguments: they are data.
  if (command.codeNext) command.shell = false;
  if (DECLARERS.has(command.name ?? "") && /^-[A-Za-z]*i/.test(word)) command.evaluated = ARITHMETIC;
  shellRead(command, word);
}

function shellRead(command: Command, word: string): void {
  if (SHELLS.has(word.slice(word.lastIndexOf("/") + 1))) command.shell = true;
}
