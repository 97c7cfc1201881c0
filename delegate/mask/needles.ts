import { formsOf } from "./forms.ts";

/**
 * What is looked for in the output. A value shorter than MIN_VALUE would mask
 * half of every log and is not looked for at all; neither is a short line of
 * a value that has several, like a brace.
 */
export const MIN_VALUE = 4;
export const MIN_LINE = 6;
/** Of a value so much is looked for in all of its forms, from its beginning: looking costs some twenty times their size of memory. */
export const MAX_VALUE = 64 * 1024;
/** What comes after that is looked for as it is, by lines and in pieces of long ones, up to here. */
export const MAX_PLAIN = 1024 * 1024;
/** A piece of a long line has so many bytes, its last one less than twice as many. */
const PIECE = 128;
/** A longer value is looked for line by line, and in the usual form of each encoding. */
const LARGE = 4096;

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const BLANKS: ReadonlySet<number | undefined> = new Set([0x20, 0x09, NEWLINE, RETURN]);
const BREAKS: ReadonlySet<number | undefined> = new Set([NEWLINE, RETURN]);

export const isBreak = (byte: number): boolean => byte === NEWLINE || byte === RETURN;

/** The byte texts (latin1), without line breaks, that give any of the values away: wholly, or one line of it. */
export const needlesOf = (values: readonly Buffer[]): ReadonlySet<string> => new Set(values.flatMap(ofValue));

function ofValue(value: Buffer): readonly string[] {
  const whole = trimmed(value.subarray(0, MAX_VALUE), BREAKS);
  if (whole.filter((byte) => !isBreak(byte)).length < MIN_VALUE) return [];
  const large = whole.length > LARGE;
  const lines = linesOf(whole).filter((line) => line.length >= MIN_LINE);
  const units = large && lines.length > 0 ? lines : [whole, ...lines];
  const forms = units.flatMap((unit) => formsOf(unit, large)).map((form) => form.replaceAll(/[\r\n]/g, ""));
  return [...forms, ...rest(value)].filter(({ length }) => length >= MIN_VALUE);
}

/** What lies behind MAX_VALUE: pieces, since what has no line breaks may be printed from anywhere to anywhere. */
const rest = (value: Buffer): readonly string[] =>
  linesOf(value.subarray(MAX_VALUE, MAX_PLAIN))
    .filter((line) => line.length >= MIN_LINE)
    .flatMap((line) => pieces(line.toString("latin1").replaceAll("\r", "")));

const pieces = (line: string): readonly string[] =>
  Array.from({ length: Math.max(1, Math.floor(line.length / PIECE)) }, (_, nth) =>
    line.slice(nth * PIECE, (nth + 2) * PIECE > line.length ? undefined : (nth + 1) * PIECE),
  );

function linesOf(value: Buffer): readonly Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0, end = 0; end >= 0 && start < value.length; start = end + 1) {
    end = value.indexOf(NEWLINE, start);
    if (end < 0 && start === 0) return [trimmed(value, BLANKS)];
    lines.push(trimmed(value.subarray(start, end < 0 ? value.length : end), BLANKS));
    if (end < 0) break;
  }
  return lines;
}

function trimmed(bytes: Buffer, away: ReadonlySet<number | undefined>): Buffer {
  let start = 0;
  let end = bytes.length;
  while (start < end && away.has(bytes[start])) start += 1;
  while (end > start && away.has(bytes[end - 1])) end -= 1;
  return bytes.subarray(start, end);
}
