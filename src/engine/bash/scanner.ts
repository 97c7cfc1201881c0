import { ExpressionError } from "../expression/error.ts";
import { expressionAt, type TemplatePart } from "../expression/template.ts";
import { HOLE, isAssignment, refusalIn, type Sink } from "./command.ts";
import { commands, type Commands, type Frame } from "./frames.ts";
import { ARITHMETIC, PARAMETER, UNCLEAR } from "./reasons.ts";

/** An expression in a script, and why Bash would not take its value there; null when it would. */
export type Hole = { readonly part: TemplatePart & { readonly kind: "expression" }; refusal: string | null };

/** The place in the script, what it is inside of, and what was found so far. */
export type Scanner = {
  readonly text: string;
  at: number;
  /** Nothing at or after it is read: the end of the script or of a here-document's body. */
  end: number;
  readonly frames: Frame[];
  readonly holes: Hole[];
  /** Where the value of an expression goes, by its index in `holes`. */
  readonly flows: { readonly hole: number; readonly to: Sink }[];
  /** Variables that were assigned an expression, unless something has looked at them since. */
  readonly unchecked: Map<string, readonly number[]>;
  /** A `((` was no arithmetic: Bash reads it anew as two subshells, and what follows is not known any more. */
  unclear: boolean;
};

/** Quotes and substitutions inside each other; a script that a person wrote stays far below. */
const MAX_FRAMES = 200;

export const newScanner = (text: string): Scanner => ({
  text,
  at: 0,
  end: text.length,
  frames: [commands("", null)],
  holes: [],
  flows: [],
  unchecked: new Map(),
  unclear: false,
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
  command.word ??= "";
  if (command.word.length < WORD_CHARS) command.word += characters;
}

/** Takes characters as they are. */
export function literally(scanner: Scanner, length = 1): void {
  addToWord(scanner, scanner.text.slice(scanner.at, scanner.at + length));
  scanner.at += length;
}

/**
 * Takes the expression at the place. `refusal` is the reason of the immediate
 * surroundings; without one, everything around decides.
 */
export function hole(scanner: Scanner, refusal?: string): void {
  const part = expressionAt(scanner.text, scanner.at);
  if (part.end > scanner.end)
    throw new ExpressionError("syntax", `Expression ${part.text} crosses the end of its here-document`, part.start);
  const index = scanner.holes.length;
  scanner.holes.push({ part, refusal: refusal ?? (scanner.unclear ? UNCLEAR : refusalAround(scanner)) ?? null });
  const to = sinkHere(scanner);
  if (to) scanner.flows.push({ hole: index, to });
  addToWord(scanner, HOLE);
  wordOwner(scanner)?.command.holes.push(index);
  scanner.at = part.end;
}

/** Refuses expressions that were found before it was known what becomes of them. */
export function refuse({ holes }: Scanner, indexes: readonly number[], refusal: string): void {
  for (const index of indexes) {
    const found = holes[index];
    if (found) found.refusal ??= refusal;
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

/** A value inside arithmetic or code is evaluated however many quotes and substitutions lie between. */
function refusalAround(scanner: Scanner): string | undefined {
  for (const frame of scanner.frames.toReversed()) {
    if (frame.kind === "arithmetic") return ARITHMETIC;
    if (frame.kind === "parameter" && frame.phase !== "word")
      return frame.phase === "operator" ? PARAMETER : ARITHMETIC;
    if (frame.kind !== "commands") continue;
    const refusal = refusalIn(frame.command, frame.list);
    if (refusal !== undefined) return refusal;
    if (frame.command.test?.arithmetic === true) return ARITHMETIC;
    // An operator that evaluates its operands may still follow.
    frame.command.test?.holes.push(scanner.holes.length);
  }
  return undefined;
}
