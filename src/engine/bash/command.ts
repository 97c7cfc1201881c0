import { EVALUATED_VARIABLE, plain, programNamed, startsOthers, type Program } from "./programs.ts";
import { ARITHMETIC, CODE, COMMAND, NAME, REMOTE, SUBSCRIPT } from "./reasons.ts";

/** What an expression is in a word: no document holds this character, so no script does. */
export const HOLE = "\0";

/** Which command gets what another one puts out, and as what. */
export type Sink = { readonly command: Command; readonly as: "argument" | "input" | "file" };

/**
 * What is known of the simple command that is being read. It only serves to find
 * the places where Bash evaluates values as code, and where a `((`, a `#` or a
 * `)` means something else than elsewhere.
 */
export type Command = {
  /** The word so far; null between words. An expansion is one `$` in it, an expression one `HOLE`. */
  word: string | null;
  /** The expressions of the word. */
  holes: number[];
  /** The command's name; null as long as a name may still come. */
  name: string | null;
  previous: string | null;
  /** The next word belongs to a redirection; of a here-string it is the input. */
  redirected: "file" | "string" | null;
  /** Why the rest of the command is evaluated; null when it is not. */
  evaluated: string | null;
  /** A program was named that still takes its code from an option or a file. */
  program: Program | null;
  /** Standard input is the code that it runs. */
  input: boolean;
  codeNext: boolean;
  /** Its code stands in `<(…)`. */
  substituted: boolean;
  /** `declare -a`, `-A` and `-n` evaluate the value that they assign. */
  evaluates: boolean;
  /** Inside `[[ … ]]`: the expressions and variables of the clause so far, and whether it compares numbers. */
  test: { holes: number[]; variables: string[]; arithmetic: boolean } | null;
  /** Variables that it prints. */
  readonly printed: string[];
  /** The next command of the pipeline, and whether a command before it is. */
  next: Command | null;
  readonly piped: boolean;
  /** Where its output goes when no pipe takes it. */
  readonly outer: Sink | null;
  /** Whether what it puts out becomes code; undefined until it was asked. */
  becomesCode: boolean | undefined;
};

export const newCommand = (name: string | null, outer: Sink | null, piped = false): Command => ({
  word: null,
  holes: [],
  name,
  previous: null,
  redirected: null,
  evaluated: null,
  program: null,
  input: false,
  codeNext: false,
  substituted: false,
  evaluates: false,
  test: null,
  printed: [],
  next: null,
  piped,
  outer,
  becomesCode: undefined,
});

/** After these words a command's name may still come. Quoted, the first ones would be names themselves. */
const RESERVED = new Set("if then elif else fi while until do done ! { } time coproc function".split(" "));
const PREFIXES = new Set(["builtin", "command", "exec"]);
const EVALUATORS: ReadonlyMap<string, string> = new Map([
  ["eval", CODE],
  ["trap", CODE],
  ["alias", CODE],
  ["let", ARITHMETIC],
]);
const SOURCES = new Set(["source", "."]);
const DECLARERS = new Set(["declare", "typeset", "local", "readonly", "export", "unset"]);
const READERS: ReadonlyMap<string, RegExp> = new Map([
  ["read", /^-[A-Za-z]*[dinNptu]/],
  ["mapfile", /^-[A-Za-z]*[dnOsucC]/],
  ["readarray", /^-[A-Za-z]*[dnOsucC]/],
]);
/** Options whose word names a variable. */
const NAMING: ReadonlyMap<string, RegExp> = new Map([
  ["test", /^-v/],
  ["[", /^-v/],
  ["printf", /^-v/],
  ["wait", /^-[A-Za-z]*p/],
]);
/** Operators of `[[` that evaluate their operands. */
export const EVALUATING_TESTS: ReadonlySet<string> = new Set(["-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v"]);

const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*(?:\[[^\]]*\])?\+?=/;
export const isAssignment = (word: string): boolean => ASSIGNMENT.test(word);
const IN_SUBSCRIPT = /^"?[A-Za-z_][A-Za-z0-9_]*\[[^\]]*$/;
const IN_KEY = /^\[[^\]]*$/;
const INPUT_FILE = /^(?:\/dev\/stdin|\/dev\/fd\/|\/proc\/self\/fd\/)/;

/** Why an expression may not stand at this place of the command; undefined when it may. `list`: among the words of an array. */
export function refusalIn(command: Command, list: boolean): string | undefined {
  const word = command.word ?? "";
  if (list) return IN_KEY.test(word) ? SUBSCRIPT : undefined;
  if (command.redirected) return undefined;
  if (command.evaluated !== null) return command.evaluated;
  if (command.codeNext || command.program?.attached?.test(plain(word)) === true) return CODE;
  if (IN_SUBSCRIPT.test(word)) return SUBSCRIPT;
  return command.name === null ? undefined : nameRefusal(command, command.name, plain(word));
}

function nameRefusal({ previous }: Command, name: string, word: string): string | undefined {
  if (DECLARERS.has(name)) return word.includes("=") ? undefined : NAME;
  const valued = READERS.get(name);
  if (valued) return valued.test(word) || isBareOption(valued, previous) ? undefined : NAME;
  const naming = NAMING.get(name);
  return naming && (naming.test(word) || isBareOption(naming, previous)) ? NAME : undefined;
}

/** True for an option that ends in its letter, so that its value is the next word. */
const isBareOption = (option: RegExp, word: string | null): boolean => word !== null && option.exec(word)?.[0] === word;

export type Taken = {
  readonly word: string;
  readonly holes: readonly number[];
  /** Why the expressions of the word may not stand there, which only its end could tell. */
  readonly refusal: string | undefined;
};

/** The word that a blank or an operator has ended; undefined when there was none. */
export function takeWord(command: Command): Taken | undefined {
  const { word, holes } = command;
  if (word === null) return undefined;
  command.word = null;
  if (holes.length > 0) command.holes = [];
  if (command.redirected) {
    command.redirected = null;
    return { word: "", holes: [], refusal: undefined };
  }
  const refusal = command.name === null ? nameRead(command, word) : argumentRead(command, word);
  return { word, holes, refusal };
}

/** Whether the value alone says what is run: it is the whole word, or cut into words that begin the command. */
const namesCommand = (word: string): boolean =>
  word.startsWith(HOLE) || (word.includes(HOLE) && plain(word).replaceAll(HOLE, "") === "");

function nameRead(command: Command, word: string): string | undefined {
  if (ASSIGNMENT.test(word)) return EVALUATED_VARIABLE.test(word) ? CODE : undefined;
  // An expansion may be empty: `$1eval` and `${x}eval` are eval then.
  const name = plain(word).replaceAll(/\$[0-9]?/g, "");
  if (RESERVED.has(word) || PREFIXES.has(name)) return undefined;
  command.name = name;
  command.evaluated = EVALUATORS.get(name) ?? null;
  programRead(command, name, null);
  return namesCommand(word) ? COMMAND : undefined;
}

function argumentRead(command: Command, word: string): string | undefined {
  const text = plain(word);
  const { name, previous } = command;
  command.previous = text;
  if (name === null) return undefined;
  if (SOURCES.has(name)) return sourced(command, word, text);
  if (DECLARERS.has(name)) return declared(command, text);
  const { program } = command;
  const isCode = command.codeNext;
  command.codeNext = !isCode && program !== null && program.option.test(text);
  // What follows the code are its arguments: they are data.
  if (command.codeNext) {
    command.program = null;
    command.input = false;
  } else if (program && !isCode && !isBareOption(program.valued ?? /^$/, previous)) {
    const refusal = operandRead(command, program, word, text);
    if (refusal) return refusal;
  }
  programRead(command, text, name);
  return undefined;
}

function sourced(command: Command, word: string, text: string): string | undefined {
  command.substituted ||= text.startsWith("<");
  command.input ||= INPUT_FILE.test(text);
  return namesCommand(word) ? COMMAND : undefined;
}

function declared(command: Command, text: string): string | undefined {
  if (/^-[A-Za-z]*i/.test(text)) command.evaluated = ARITHMETIC;
  if (/^-[A-Za-z]*[aAn]/.test(text)) command.evaluates = true;
  return command.evaluates && text.includes("=") ? NAME : undefined;
}

function operandRead(command: Command, program: Program, word: string, text: string): string | undefined {
  if (program.stays?.test(text) === true) command.program = null;
  if (program.operand === undefined || /^[-+]/.test(text) || INPUT_FILE.test(text)) return undefined;
  if (program.operand === "end" && text.includes("=")) return undefined;
  // The host's shell reads either the rest of the words or the input.
  if (program.operand === "host") {
    if (command.evaluated === REMOTE) command.input = false;
    command.evaluated = REMOTE;
    return undefined;
  }
  command.program = null;
  if (program.operand !== "file") return undefined;
  command.input = false;
  command.substituted = text.startsWith("<");
  return namesCommand(word) ? COMMAND : undefined;
}

function programRead(command: Command, text: string, name: string | null): void {
  const program = programNamed(text, name);
  if (!program) return;
  command.program = program;
  command.input = program.input && (name === null || startsOthers(name));
}
