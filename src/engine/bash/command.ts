import { EVALUATED_VARIABLE, plain, programNamed, startsOthers, type Program } from "./programs.ts";
import {
  COMMAND,
  DESCRIPTOR,
  EVALUATED,
  INTEGER,
  NAME,
  PROMPT,
  REMOTE,
  SHELL,
  type Reason,
  type Ruling,
} from "./reasons.ts";

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
  /** Where it begins; null before its first word. */
  from: number | null;
  /** The word so far; null between words. An expansion is one `$` in it, an expression one `HOLE`. */
  word: string | null;
  wordFrom: number;
  /** The expressions of the word. */
  holes: number[];
  /** The command's name; null as long as a name may still come. */
  name: string | null;
  previous: string | null;
  /** The reserved word before the name after which more than a command may follow. */
  reserved: "function" | "coproc" | null;
  /** The next word belongs to a redirection; of a here-string it is the input. */
  redirected: "file" | "descriptor" | "string" | null;
  /** What is said of expressions in the rest of the command, as it is evaluated; null when it is not. */
  evaluated: Ruling | null;
  /** A program was named that still takes its code from an option or a file. */
  program: Program | null;
  /** Words that are values of the option before them. */
  skipped: number;
  /** The next word is code. */
  codeNext: Reason | null;
  /** Standard input is the code that it runs. */
  input: Reason | null;
  /** Its code stands in `<(…)`. */
  substituted: Reason | null;
  /** Letters of the options of `declare` and its kin. */
  flags: string;
  /** What `xargs -I` replaces by its input. */
  placeholder: string | null;
  /** Inside `[[ … ]]`: the expressions and variables of the clause so far, and what its operator says of them. */
  test: { holes: number[]; variables: string[]; ruling: Ruling | null } | null;
  /** Variables that it prints. */
  readonly printed: string[];
  /** The next command of the pipeline, and whether a command before it is. */
  next: Command | null;
  readonly piped: boolean;
  /** The commands in `>(…)` among its words. */
  readonly feeds: Command[];
  /** Its output goes to a descriptor that the script knows by a variable. */
  writesCoprocess: boolean;
  /** Where its output goes when no pipe takes it. */
  readonly outer: Sink | null;
  /** Why what it puts out becomes code; null when it does not, undefined until it was asked. */
  becomesCode: Reason | null | undefined;
};

export const newCommand = (name: string | null, outer: Sink | null, piped = false): Command => ({
  from: null,
  word: null,
  wordFrom: 0,
  holes: [],
  name,
  previous: null,
  reserved: null,
  redirected: null,
  evaluated: null,
  program: null,
  skipped: 0,
  codeNext: null,
  input: null,
  substituted: null,
  flags: "",
  placeholder: null,
  test: null,
  printed: [],
  next: null,
  piped,
  feeds: [],
  writesCoprocess: false,
  outer,
  becomesCode: undefined,
});

/** After these words a command's name may still come. Quoted, the first ones would be names themselves. */
const RESERVED = new Set("if then elif else fi while until do done ! { } time".split(" "));
const PREFIXES = new Set(["builtin", "command", "exec"]);
const EVALUATORS: ReadonlyMap<string, Ruling> = new Map<string, Ruling>([
  ["eval", EVALUATED],
  ["trap", EVALUATED],
  ["alias", EVALUATED],
  ["let", INTEGER],
]);
const SOURCES = new Set(["source", "."]);
export const DECLARERS: ReadonlySet<string> = new Set(["declare", "typeset", "local", "readonly", "export", "unset"]);
const READERS: ReadonlyMap<string, RegExp> = new Map([
  ["read", /^-[A-Za-z]*[dinNptu]/],
  ["mapfile", /^-[A-Za-z]*[dnOsucC]/],
  ["readarray", /^-[A-Za-z]*[dnOsucC]/],
]);
/** Options whose word names a variable. */
const NAMING: ReadonlyMap<string, RegExp> = new Map([
  ["test", /^-[vR]/],
  ["[", /^-[vR]/],
  ["printf", /^-v/],
  ["wait", /^-[A-Za-z]*p/],
]);
const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*(?:\[[^\]]*\])?\+?=/;
export const isAssignment = (word: string): boolean => ASSIGNMENT.test(word);
const IN_SUBSCRIPT = /^"?([A-Za-z_][A-Za-z0-9_]*)\[[^\]]*$/;
const IN_KEY = /^\[[^\]]*$/;
const INPUT_FILE = /^(?:\/dev\/stdin|\/dev\/fd\/|\/proc\/self\/fd\/)/;

/** The array in whose subscript the word has come to; undefined elsewhere. */
export const arrayIn = (word: string): string | undefined => IN_SUBSCRIPT.exec(word)?.[1];
export const isInKey = (word: string): boolean => IN_KEY.test(word);

/** What is said of an expression at this place of the command; undefined when it may stand there. */
export function rulingIn(command: Command): Ruling | undefined {
  const word = plain(command.word ?? "");
  if (command.redirected) return command.redirected === "descriptor" ? DESCRIPTOR : undefined;
  if (command.evaluated !== null) return command.evaluated;
  if (command.codeNext) return command.codeNext;
  if (command.program && isCode(command.program, command, word)) return command.program.reason;
  return command.name === null ? undefined : nameRuling(command, command.name, word);
}

function isCode({ attached, command, operand }: Program, { skipped }: Command, word: string): boolean {
  if (attached?.test(word) === true || command?.test(word) === true) return true;
  return (operand === "code" || operand === "words") && skipped === 0 && !word.startsWith("-");
}

function nameRuling({ previous }: Command, name: string, word: string): Ruling | undefined {
  if (DECLARERS.has(name)) return word.includes("=") ? undefined : NAME;
  if (name === "for" || name === "select") return previous === null ? NAME : undefined;
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
  /** What is said of the expressions of the word, which only its end could tell. */
  readonly ruling: Ruling | undefined;
};

/** The word that a blank or an operator has ended; undefined when there was none. */
export function takeWord(command: Command): Taken | undefined {
  const { word, holes } = command;
  if (word === null) return undefined;
  command.word = null;
  if (holes.length > 0) command.holes = [];
  if (command.redirected) {
    if (command.redirected === "descriptor" && word.includes("$")) command.writesCoprocess = true;
    command.redirected = null;
    return { word: "", holes: [], ruling: undefined };
  }
  const ruling = command.name === null ? nameRead(command, word) : argumentRead(command, word);
  return { word, holes, ruling };
}

/** Whether the value alone says what is run: it is the whole word, or cut into words that begin the command. */
const namesCommand = (word: string): boolean =>
  word.startsWith(HOLE) || (word.includes(HOLE) && plain(word).replaceAll(HOLE, "") === "");

function nameRead(command: Command, word: string): Ruling | undefined {
  if (ASSIGNMENT.test(word)) return undefined;
  // An expansion may be empty: `$1eval` and `${x}eval` are eval then.
  const name = plain(word).replaceAll(/\$[0-9]?/g, "");
  if (word === "function" || word === "coproc") {
    command.reserved = word;
    return undefined;
  }
  if (RESERVED.has(word) || PREFIXES.has(name)) return undefined;
  command.name = name;
  command.evaluated = EVALUATORS.get(name) ?? null;
  programRead(command, name, null);
  return namesCommand(word) ? COMMAND : undefined;
}

function argumentRead(command: Command, word: string): Ruling | undefined {
  const text = plain(word);
  const ruling = command.name === null ? undefined : argumentRuling(command, word, text);
  command.previous = text;
  return ruling;
}

function argumentRuling(command: Command, word: string, text: string): Ruling | undefined {
  const { name } = command;
  if (name !== null && SOURCES.has(name)) return sourced(command, word, text);
  if (name !== null && DECLARERS.has(name)) return declared(command, text);
  if (name === "xargs") placeholderRead(command, text);
  if (command.codeNext) codeRead(command, text);
  else if (command.skipped > 0) command.skipped -= 1;
  else if (command.program && optionRead(command, command.program, text)) return undefined;
  else {
    const ruling = command.program ? operandRead(command, command.program, word) : undefined;
    if (ruling === undefined) programRead(command, text, name);
    return ruling;
  }
  return undefined;
}

/** True for an option that brings code, in its own word or in the next one. */
function optionRead(command: Command, program: Program, text: string): boolean {
  const isBare = program.option?.test(text) === true;
  if (!isBare && program.attached?.test(text) !== true) return false;
  if (isBare) command.codeNext = program.reason;
  codeFound(command, program);
  return true;
}

/** The code is given: what follows it are its arguments, which are data, and its input. */
function codeFound(command: Command, program: Program): void {
  const { operand: _, input: __, ...options } = program;
  command.program = program.repeats === true ? options : null;
  command.input = null;
}

function codeRead(command: Command, text: string): void {
  // What xargs reads is put into the code.
  if (command.placeholder !== null && text.includes(command.placeholder)) command.input = command.codeNext;
  command.codeNext = null;
}

function placeholderRead(command: Command, text: string): void {
  if (command.previous === "-I") command.placeholder = text;
  const given = /^(?:-I(.+)|-i(.*)|--replace(?:=(.*))?)$/.exec(text);
  if (given) command.placeholder = (given[1] ?? given[2] ?? given[3]) || "{}";
}

function sourced(command: Command, word: string, text: string): Ruling | undefined {
  if (text.startsWith("<")) command.substituted = SHELL;
  if (INPUT_FILE.test(text)) command.input = SHELL;
  return namesCommand(word) ? COMMAND : undefined;
}

function declared(command: Command, text: string): Ruling | undefined {
  if (/^-[A-Za-z]+$/.test(text)) command.flags += text;
  if (command.flags.includes("i")) command.evaluated = INTEGER;
  // The text of an array in quotes is read as its words, and that of a reference as a name.
  return /[aAn]/.test(command.flags) && text.includes("=") ? NAME : undefined;
}

function operandRead(command: Command, program: Program, word: string): Ruling | undefined {
  const text = plain(word);
  if (program.valued?.test(text) === true) command.skipped = 1;
  if (program.paired?.test(text) === true) command.skipped = 2;
  if (program.file?.test(text) === true) {
    command.skipped = 1;
    command.program = null;
    return undefined;
  }
  if (program.stays?.test(text) === true) command.program = null;
  if (program.operand === undefined || text === "" || /^[-+]/.test(text) || INPUT_FILE.test(text)) return undefined;
  if (program.verbs?.test(text) === true) return undefined;
  return ofOperand(command, program, word);
}

function ofOperand(command: Command, program: Program, word: string): Ruling | undefined {
  switch (program.operand) {
    case "end":
      if (word.includes("=")) return EVALUATED_VARIABLE.test(word) ? PROMPT : undefined;
      command.program = null;
      return undefined;
    case "host":
      // The host's shell reads either the rest of the words or the input.
      if (command.evaluated === REMOTE) command.input = null;
      command.evaluated = REMOTE;
      return undefined;
    case "words":
      command.evaluated = program.reason;
      return undefined;
    case "before":
      command.program = { ...program, operand: "code" };
      return undefined;
    case "file":
      command.program = null;
      command.input = null;
      if (plain(word).startsWith("<")) command.substituted = program.reason;
      return namesCommand(word) ? COMMAND : undefined;
    case "code":
      codeFound(command, program);
      break;
    case undefined:
  }
  return undefined;
}

/** `starter`: the command that `text` is an argument of; null where `text` is the name. */
function programRead(command: Command, text: string, starter: string | null): void {
  const program = programNamed(text, { name: starter, previous: command.previous });
  if (!program) return;
  command.program = program;
  command.input = starter === null || startsOthers(starter) ? (program.input ?? null) : null;
}
