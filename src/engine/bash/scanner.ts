import { ExpressionError } from "../expression/error.ts";
import { expressionAt, type TemplatePart } from "../expression/template.ts";
import { arrayIn, HOLE, isAssignment, isInKey, rulingIn, type Sink } from "./command.ts";
import { commands, type Commands, type Frame } from "./frames.ts";
import { INTEGER, PARAMETER, TRANSLATED, type Reason, type Ruling } from "./reasons.ts";

/** An expression in a script, and what Bash does with its value. */
export type Hole = {
  readonly part: TemplatePart & { readonly kind: "expression" };
  /** Where it begins in the script; `part` has the place in the text between backquotes. */
  readonly offset: number;
  /** Why Bash would not take its value there; null when it would. */
  refusal: Reason | null;
  /** Bash calculates with the value. */
  isInteger: boolean;
  /** Where the command begins whose word it stands in, and where that word lies; null between backquotes. */
  word: { readonly command: number; readonly from: number; readonly to: number } | null;
};

/** A part of the script that other text replaces. */
export type Edit = { readonly start: number; readonly end: number; readonly text: string };

/** The place in the script, what it is inside of, and what was found so far. */
export type Scanner = {
  /** The script, or what Bash reads between two backquotes of it. */
  text: string;
  at: number;
  /** Nothing at or after it is read: the end of the script or of a here-document's body. */
  end: number;
  /** The place in the script of an offset in `text`. */
  offsetOf: (offset: number) => number;
  edits: Edit[];
  readonly frames: Frame[];
  readonly holes: Hole[];
  /** The variable of each expression by its text. */
  readonly names: Map<string, string>;
  readonly nameOf: (nth: number) => string;
  /** Where the value of an expression goes, by its index in `holes`. */
  readonly flows: { readonly hole: number; readonly to: Sink }[];
  /** Variables that were assigned an expression, unless something has looked at them since. */
  readonly unchecked: Map<string, readonly number[]>;
  /** Variables by the letter that `declare` has given them. */
  readonly declared: Map<string, string>;
  /** Bash may read what follows in another way; why no expression may stand there. */
  unclear: Reason | null;
  /** There is a coprocess, and one that runs what it reads. */
  hasCoprocess: boolean;
  runsCoprocess: boolean;
  /** Scans up to an offset and leaves what was opened on the way. */
  readonly scanTo: (scanner: Scanner, end: number) => void;
};

/** Quotes and substitutions inside each other; a script that a person wrote stays far below. */
const MAX_FRAMES = 200;

export const newScanner = (text: string, { nameOf, scanTo }: Pick<Scanner, "nameOf" | "scanTo">): Scanner => ({
  text,
  at: 0,
  end: text.length,
  offsetOf: (offset) => offset,
  edits: [],
  frames: [commands("", null)],
  holes: [],
  names: new Map(),
  nameOf,
  flows: [],
  unchecked: new Map(),
  declared: new Map(),
  unclear: null,
  hasCoprocess: false,
  runsCoprocess: false,
  scanTo,
});

export function push(scanner: Scanner, frame: Frame, length: number): void {
  if (scanner.frames.length >= MAX_FRAMES) {
    throw new ExpressionError(
      "limit",
      `The script nests quotes and substitutions deeper than ${MAX_FRAMES}`,
      scanner.at,
    );
  }
  scanner.frames.push(frame);
  scanner.at += length;
}

export function pop(scanner: Scanner, length: number): void {
  leave(scanner, scanner.frames.length - 1);
  scanner.at += length;
}

/** Leaves every frame above `depth`. A here-document whose line ended in between belongs to the line around it. */
export function leave(scanner: Scanner, depth: number): void {
  while (scanner.frames.length > depth) {
    const left = scanner.frames.pop();
    if (left?.kind !== "commands") continue;
    const around = scanner.frames.findLast((frame) => frame.kind === "commands");
    if (around && around.pending !== left.pending) around.pending.push(...left.pending);
  }
}

export const looksAt = (scanner: Scanner, what: string, ahead = 0): boolean =>
  scanner.text.startsWith(what, scanner.at + ahead) && scanner.at + ahead + what.length <= scanner.end;

/** The commands whose word the innermost frame adds to; undefined further inside. */
function wordOwner(scanner: Scanner): Commands | undefined {
  const inner = scanner.frames.at(-1);
  const owner = inner?.kind === "double" ? scanner.frames.at(-2) : inner;
  return owner?.kind === "commands" ? owner : undefined;
}

/** What matters of a word stands at its beginning; a longer one would be looked through again at each expression. */
const WORD_CHARS = 256;

/** Adds characters to the word that is being read, and begins it where there was none. */
export function addToWord(scanner: Scanner, characters: string): void {
  const command = wordOwner(scanner)?.command;
  if (!command) return;
  if (command.word === null) {
    command.word = "";
    command.wordFrom = scanner.at;
    command.from ??= scanner.at;
  }
  if (command.word.length < WORD_CHARS) command.word += characters;
}

/** Takes characters as they are. */
export function literally(scanner: Scanner, length = 1): void {
  addToWord(scanner, scanner.text.slice(scanner.at, scanner.at + length));
  scanner.at += length;
}

/**
 * How the variable is written in place of an expression: as it is, or between the end and the beginning of the quotes
 * around it. A here-document writes its whole body anew.
 */
export type Form = "bare" | "single" | "ansi" | "body";

const WRITTEN: Readonly<Record<Form, (reference: string) => string>> = {
  bare: (reference) => reference,
  single: (reference) => `'"${reference}"'`,
  ansi: (reference) => `'"${reference}"$'`,
  body: (reference) => reference,
};

/**
 * Takes the expression at the place and returns the reference to its variable. `refusal` is the reason of the
 * immediate surroundings; without one, everything around decides.
 */
export function hole(scanner: Scanner, form: Form = "bare", refusal?: Reason): string {
  const part = expressionAt(scanner.text, scanner.at);
  if (part.end > scanner.end)
    throw new ExpressionError("syntax", `Expression ${part.text} crosses the end of its here-document`, part.start);
  const index = scanner.holes.length;
  const offset = scanner.offsetOf(part.start);
  scanner.holes.push({ part, offset, refusal: scanner.unclear, isInteger: false, word: null });
  const ruling = refusal ?? rulingAround(scanner);
  if (ruling !== undefined) rule(scanner, [index], ruling);
  const to = sinkHere(scanner);
  if (to) scanner.flows.push({ hole: index, to });
  addToWord(scanner, HOLE);
  wordOwner(scanner)?.command.holes.push(index);
  const reference = `\${${nameFor(scanner, part.text)}}`;
  const text = blankBefore(scanner, part.start) + WRITTEN[form](reference);
  if (form !== "body") scanner.edits.push({ start: part.start, end: part.end, text });
  scanner.at = part.end;
  return reference;
}

/** `x-<+n>` in arithmetic would be `x--` with a negative number. */
const blankBefore = ({ frames, text }: Scanner, start: number): string =>
  frames.at(-1)?.kind === "arithmetic" && /[-+]/.test(text.charAt(start - 1)) ? " " : "";

function nameFor({ names, nameOf }: Scanner, expression: string): string {
  const known = names.get(expression) ?? nameOf(names.size + 1);
  names.set(expression, known);
  return known;
}

/** Says of expressions what was not known yet when they were found. */
export function rule({ holes }: Scanner, indexes: readonly number[], ruling: Ruling): void {
  for (const index of indexes) {
    const found = holes[index];
    if (!found) continue;
    if (ruling === INTEGER) found.isInteger = true;
    else found.refusal ??= ruling;
  }
}

/** Which command gets what stands here, as an argument or as its input; null when none does. */
export function sinkHere({ frames }: Scanner): Sink | null {
  const frame = frames.findLast(({ kind }) => kind === "commands" || kind === "heredoc");
  if (frame?.kind === "heredoc") return { command: frame.reader, as: "input" };
  if (frame?.kind !== "commands") return null;
  const { command } = frame;
  if (command.redirected) return command.redirected === "string" ? { command, as: "input" } : null;
  return command.name === null && isAssignment(command.word ?? "") ? null : { command, as: "argument" };
}

export const isKeyed = ({ declared }: Scanner, name: string): boolean => declared.get(name) === "A";

/** A value inside arithmetic or code is evaluated however many quotes and substitutions lie between. */
function rulingAround(scanner: Scanner): Ruling | undefined {
  let inner: Frame | undefined;
  for (const frame of scanner.frames.toReversed()) {
    const ruling = frame.kind === "commands" ? rulingOf(scanner, frame) : rulingInside(frame, inner);
    if (ruling !== undefined) return ruling;
    // An operator that evaluates its operands may still follow.
    if (frame.kind === "commands") frame.command.test?.holes.push(scanner.holes.length - 1);
    inner = frame;
  }
  return undefined;
}

function rulingInside(frame: Frame, inner: Frame | undefined): Ruling | undefined {
  if (frame.kind === "double") return frame.isTranslated && inner ? TRANSLATED : undefined;
  if (frame.kind === "arithmetic") return frame.key ? undefined : INTEGER;
  if (frame.kind !== "parameter" || frame.phase === "default" || frame.phase === "pattern") return undefined;
  if (frame.phase === "arithmetic") return INTEGER;
  return inner?.kind === "arithmetic" ? undefined : PARAMETER;
}

function rulingOf(scanner: Scanner, { command, list }: Commands): Ruling | undefined {
  const word = command.word ?? "";
  if (list) return list === "indexed" && isInKey(word) ? INTEGER : undefined;
  const ruling = rulingIn(command);
  if (ruling !== undefined || command.redirected) return ruling;
  const array = arrayIn(word);
  if (array !== undefined && command.name === null && !isKeyed(scanner, array)) return INTEGER;
  return command.test?.ruling ?? undefined;
}
