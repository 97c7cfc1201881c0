/** A regular expression as instructions for the matcher in match.ts. */
import { ExpressionError } from "../error.ts";
import { MAX_PATTERN_SIZE } from "../limits.ts";
import { parsePattern } from "./parse.ts";
import type { Assertion, CharSet, Pattern } from "./syntax.ts";

export type Instruction =
  | { readonly op: "char"; readonly set: CharSet }
  | { readonly op: "assert"; readonly assertion: Assertion }
  /** Goes on at both places; the first one is preferred. */
  | { readonly op: "split"; first: number; second: number }
  | { readonly op: "jump"; to: number }
  /** Notes the position: the begin of group n in slot 2n, its end in slot 2n + 1. */
  | { readonly op: "save"; readonly slot: number }
  | { readonly op: "match" };

export type Program = {
  readonly code: readonly Instruction[];
  readonly slots: number;
  readonly ignoresCase: boolean;
};

type Writer = { readonly code: Instruction[]; readonly call: number; visits: number };

/** Throws ExpressionError at the offset `call` for a pattern that is wrong, not supported or too large. */
export function compilePattern(text: string, call: number): Program {
  const { root, groups, ignoresCase } = parsePattern(text, call);
  const writer: Writer = { code: [], call, visits: 0 };
  write(writer, { kind: "group", number: 0, inner: root });
  emit(writer, { op: "match" });
  return { code: writer.code, slots: 2 * (groups + 1), ignoresCase };
}

const tooLarge = ({ call }: Writer): ExpressionError =>
  new ExpressionError(
    "limit",
    `the pattern is too large: with its counts written out it has more than ${MAX_PATTERN_SIZE} parts`,
    call,
  );

function emit<T extends Instruction>(writer: Writer, instruction: T): T {
  if (writer.code.length >= MAX_PATTERN_SIZE) throw tooLarge(writer);
  writer.code.push(instruction);
  return instruction;
}

function write(writer: Writer, pattern: Pattern): void {
  // Counted apart from the instructions: an empty group makes none, however often it is written out.
  if (++writer.visits > 4 * MAX_PATTERN_SIZE) throw tooLarge(writer);
  switch (pattern.kind) {
    case "set":
      emit(writer, { op: "char", set: pattern.set });
      return;
    case "assertion":
      emit(writer, { op: "assert", assertion: pattern.assertion });
      return;
    case "group":
      emit(writer, { op: "save", slot: 2 * pattern.number });
      write(writer, pattern.inner);
      emit(writer, { op: "save", slot: 2 * pattern.number + 1 });
      return;
    case "sequence":
      for (const part of pattern.parts) write(writer, part);
      return;
    case "choice":
      writeChoice(writer, pattern.options);
      return;
    case "repeat":
      writeRepeat(writer, pattern);
  }
}

function writeChoice(writer: Writer, options: readonly Pattern[]): void {
  const jumps: { to: number }[] = [];
  for (const [index, option] of options.entries()) {
    if (index === options.length - 1) {
      write(writer, option);
      break;
    }
    const split = emit(writer, { op: "split", first: writer.code.length + 1, second: 0 });
    write(writer, option);
    jumps.push(emit(writer, { op: "jump", to: 0 }));
    split.second = writer.code.length;
  }
  for (const jump of jumps) jump.to = writer.code.length;
}

/** `x{2,4}` is written out as `xx(x(x)?)?`. */
function writeRepeat(writer: Writer, { inner, least, most, isGreedy }: Pattern & { kind: "repeat" }): void {
  for (let nth = 0; nth < least; nth++) write(writer, inner);
  if (most === Infinity) {
    const split = emit(writer, { op: "split", first: 0, second: 0 });
    const begin = writer.code.length - 1;
    write(writer, inner);
    emit(writer, { op: "jump", to: begin });
    aim(split, { into: begin + 1, past: writer.code.length, isGreedy });
    return;
  }
  const splits: { first: number; second: number; readonly into: number }[] = [];
  for (let nth = least; nth < most; nth++) {
    const split = emit(writer, { op: "split", first: 0, second: 0 });
    splits.push(Object.assign(split, { into: writer.code.length }));
    write(writer, inner);
  }
  for (const split of splits) aim(split, { into: split.into, past: writer.code.length, isGreedy });
}

type Aim = { readonly into: number; readonly past: number; readonly isGreedy: boolean };

function aim(split: { first: number; second: number }, { into, past, isGreedy }: Aim): void {
  split.first = isGreedy ? into : past;
  split.second = isGreedy ? past : into;
}
