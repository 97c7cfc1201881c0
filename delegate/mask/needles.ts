import { formsOf } from "./forms.ts";
import { lettersOf } from "./letters.ts";

/**
 * The texts that the search looks for. Values shorter than MIN_VALUE are not masked,
 * since they would mask much of every log; neither are short lines of a value with
 * several lines, for example a brace.
 */
export const MIN_VALUE = 4;
export const MIN_LINE = 6;
/** Bytes at the beginning of a value that are searched for in all forms. */
export const MAX_VALUE = 64 * 1024;
/** Bytes of a value that are searched for; those after MAX_VALUE in plain form only. */
export const MAX_PLAIN = 1024 * 1024;
/** A longer unit is encoded in pieces. */
const PIECE = 1536;
const OVERLAP = 3;
/** A longer value is searched for line by line, in the usual form of each encoding. */
const LARGE = 4096;

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const BLANKS: ReadonlySet<number | undefined> = new Set([0x20, 0x09, NEWLINE, RETURN]);
const BREAKS: ReadonlySet<number | undefined> = new Set([NEWLINE, RETURN]);

export const isBreak = (byte: number): boolean => byte === NEWLINE || byte === RETURN;

/**
 * The letters of all forms that give the value away: wholly, or one line of it. Of a value above MAX_VALUE its
 * beginning alone.
 */
export function needlesOf(value: Buffer): readonly string[] {
  const { units, commonFormsOnly } = unitsOf(value);
  return units.flatMap((unit) => formsOf(unit, commonFormsOnly)).flatMap(toNeedle);
}

/**
 * The same, and the lines behind MAX_VALUE as they are; unit by unit, long ones in pieces, so that the caller can
 * pause.
 */
export function* needlesByPiece(value: Buffer): Generator<readonly string[]> {
  const { units, commonFormsOnly } = unitsOf(value);
  for (const unit of units)
    for (const piece of pieces(unit)) yield [...new Set(formsOf(piece, commonFormsOnly))].flatMap(toNeedle);
  const rest = value.subarray(MAX_VALUE, MAX_PLAIN);
  for (const line of rest.includes(0) ? [rest] : linesOf(rest))
    if (line.length >= MIN_LINE) yield toNeedle(line.toString("latin1"));
}

function unitsOf(value: Buffer): { readonly units: readonly Buffer[]; readonly commonFormsOnly: boolean } {
  const whole = trim(value.subarray(0, MAX_VALUE), BREAKS);
  if (whole.filter((byte) => !isBreak(byte)).length < MIN_VALUE) return { units: [], commonFormsOnly: false };
  const commonFormsOnly = whole.length > LARGE;
  // Binary values have no lines.
  if (commonFormsOnly && whole.includes(0)) return { units: [whole], commonFormsOnly };
  const lines = linesOf(whole).filter((line) => line.length >= MIN_LINE);
  return { units: commonFormsOnly && lines.length > 0 ? lines : [whole, ...lines], commonFormsOnly };
}

const toNeedle = (form: string): readonly string[] => {
  const letters = lettersOf(form);
  return letters.length >= MIN_VALUE ? [letters] : [];
};

/** Base64 of a piece lacks what its ends share with their neighbours: so they overlap. */
function* pieces(unit: Buffer): Generator<Buffer> {
  for (let from = 0; from === 0 || from + OVERLAP < unit.length; from += PIECE - OVERLAP)
    yield unit.subarray(from, from + PIECE);
}

function linesOf(value: Buffer): readonly Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0, end = 0; end >= 0 && start < value.length; start = end + 1) {
    end = value.indexOf(NEWLINE, start);
    if (end < 0 && start === 0) return [trim(value, BLANKS)];
    lines.push(trim(value.subarray(start, end < 0 ? value.length : end), BLANKS));
    if (end < 0) break;
  }
  return lines;
}

function trim(bytes: Buffer, away: ReadonlySet<number | undefined>): Buffer {
  let start = 0;
  let end = bytes.length;
  while (start < end && away.has(bytes[start])) start += 1;
  while (end > start && away.has(bytes[end - 1])) end -= 1;
  return bytes.subarray(start, end);
}
