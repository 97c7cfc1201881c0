/**
 * Parses the bytes in a line of `od`, `hexdump`, `xxd` and similar programs, or in a line of hex bytes with blanks,
 * colons and other separators. Texts are latin1; places count from the beginning of the line.
 */

/**
 * Which bytes stand where. `from` and `to` are places for each byte; those of a line with an offset all are the whole
 * line's.
 */
export type DumpedBytes = {
  readonly bytes: readonly number[];
  readonly from: readonly number[];
  readonly to: readonly number[];
  /** Only separators precede the first byte: it continues the line before. */
  readonly continues: boolean;
  /** Only separators follow the last byte. */
  readonly continuesAfter: boolean;
};

/** Where a line may begin to be one: four numbers of one or more bytes, or four cells of `od -c`. */
export const CANDIDATE = new RegExp(
  [
    String.raw`(?<![0-9A-Za-z])(?:0x|\\x)?(?:[0-9A-Fa-f]{2,16}(?:[ \t:,;'"-]{1,4}(?:0x|\\x)?|\\x)){3}[0-9A-Fa-f]{2}`,
    String.raw`^[0-9A-Fa-f]{6,16}:?\s`,
    String.raw`(?: {3}[!-~]| {2}\\[0abfnrtv]| [0-7]{3}){4}`,
  ].join("|"),
  "gm",
);

const OFFSET = /^[0-9A-Fa-f]{6,16}(?<colon>:?)(?=\s|$)/;
/** A line that may turn into one with an offset, or into cells. */
const OPEN_OFFSET = /^(?:[0-9A-Fa-f]{1,16}$|[0-9A-Fa-f]{6,16}:?(?:\s|$))/;
const CELL = / {3}[!-~]| {2}\\[0abfnrtv]| [0-7]{3}| {4}/y;
const OPEN_CELLS = /^(?: {3}[!-~]| {2}\\[0abfnrtv]| [0-7]{3}| {4})* {0,3}[\\0-7]{0,3}$/;

/** Whether the incomplete line may become a line with an offset or with cells. */
export const mayBecomeDump = (line: string): boolean =>
  OPEN_OFFSET.test(line) || (line.startsWith(" ") && OPEN_CELLS.test(line));

const PLAIN =
  /^\s*(?:[0-9A-Fa-f]{4}|[0-7]{6}|[0-9A-Fa-f]{8}|[0-9A-Fa-f]{16})(?: +(?:[0-9A-Fa-f]{4}|[0-7]{6}|[0-9A-Fa-f]{8}|[0-9A-Fa-f]{16}))*\s*$/;

/** The bytes of the line, in order; empty for another line. */
export function parseDumpLine(line: string): readonly DumpedBytes[] {
  const offset = OFFSET.exec(line);
  if (!offset) {
    const whole = line.startsWith(" ") ? cells(line, 0) : undefined;
    if (whole) return [wholeLine(whole, line)];
    return PLAIN.test(line) ? [{ ...words(line, 0, false), continues: true, continuesAfter: true }] : runs(line);
  }
  const start = offset[0].length;
  const bytes = cells(line, start) ?? words(line, start, offset.groups?.["colon"] === ":").bytes;
  return bytes.length > 0 ? [wholeLine(bytes, line)] : [];
}

const wholeLine = (bytes: readonly number[], line: string): DumpedBytes => ({
  bytes,
  from: bytes.map(() => 0),
  to: bytes.map(() => line.length),
  continues: true,
  continuesAfter: true,
});

const ESCAPED_BYTES: Readonly<Record<string, number>> = { "0": 0, a: 7, b: 8, f: 12, n: 10, r: 13, t: 9, v: 11 };

/** As `od -c` and `od -b` write them: four characters each, to the end of the line. */
function cells(line: string, start: number): readonly number[] | undefined {
  const bytes: number[] = [];
  CELL.lastIndex = start;
  for (let at = start; at < line.length; at = CELL.lastIndex) {
    const [cell] = CELL.exec(line) ?? [];
    if (cell === undefined) return undefined;
    const text = cell.slice(1);
    if (/^[0-7]{3}$/.test(text)) bytes.push(Number.parseInt(text, 8) & 255);
    else bytes.push(text.startsWith(" \\") ? (ESCAPED_BYTES[text.slice(2)] ?? 0) : text.charCodeAt(2));
  }
  return bytes.length > 0 ? bytes : undefined;
}

/** Numbers of one width, each of one byte or of several, up to where something else comes. */
function words(line: string, start: number, isBigEndian: boolean): Pick<DumpedBytes, "bytes" | "from" | "to"> {
  const word = isBigEndian ? /( )([0-9A-Fa-f]+)(?![^ ])/y : /([ \t]*)([0-9A-Fa-f]+)(?=\s|$)/y;
  const [bytes, from, to]: [number[], number[], number[]] = [[], [], []];
  let width = 0;
  // `hexdump -x` has four blanks before each word; elsewhere more than two are before the text column.
  let most = 2;
  word.lastIndex = start;
  for (let found = word.exec(line); found; found = word.exec(line)) {
    const [all, blanks = "", text = ""] = found;
    if (width === 0 && text.length === 4 && blanks.length === 4) most = 4;
    if (start > 0 && blanks.length > most) break;
    width ||= text.length;
    const isLast = isBigEndian && text.length < width && text.length % 2 === 0;
    const some = text.length === width || isLast ? bytesOf(text, isBigEndian) : undefined;
    if (!some) break;
    for (const byte of some) {
      bytes.push(byte);
      from.push(found.index + blanks.length);
      to.push(found.index + all.length);
    }
  }
  return { bytes, from, to };
}

function bytesOf(word: string, isBigEndian: boolean): readonly number[] | undefined {
  if (word.length === 6 && !isBigEndian) {
    const value = /^[0-7]+$/.test(word) ? Number.parseInt(word, 8) : 0x1_0000;
    return value > 0xffff ? undefined : [value & 255, value >> 8];
  }
  if (word.length !== 2 && word.length !== 4 && word.length !== 8 && word.length !== 16) return undefined;
  const bytes = [...Buffer.from(word, "hex")];
  return isBigEndian ? bytes : bytes.toReversed();
}

const TOKEN = String.raw`(?:0x|\\x)?[0-9A-Fa-f]{2}(?![0-9A-Fa-f])`;
const RUN = new RegExp(String.raw`(?<![0-9A-Za-z])${TOKEN}(?:(?:[ \t:,;'"-]{1,4}|(?=\\x))${TOKEN})*`, "g");
const BYTE = /(?:0x|\\x)?([0-9A-Fa-f]{2})/g;
const BETWEEN = /^[\s:,;'"-]*$/;

/** Whether the text consists of separators only. */
export const isSeparator = (text: string): boolean => BETWEEN.test(text);

/** Bytes in hex with one to four marks between them, as in lists of quoted words, anywhere in the line. */
function runs(line: string): readonly DumpedBytes[] {
  let end = 0;
  const found = [...line.matchAll(RUN)].map((run) => {
    const tokens = [...run[0].matchAll(BYTE)];
    const continues = isSeparator(line.slice(end, run.index));
    end = run.index + run[0].length;
    return {
      bytes: tokens.map(([, digits = ""]) => Number.parseInt(digits, 16)),
      from: tokens.map(({ index }) => run.index + index),
      to: tokens.map((token) => run.index + token.index + token[0].length),
      continues,
      continuesAfter: false,
    };
  });
  return found.map((run, nth) =>
    nth === found.length - 1 ? { ...run, continuesAfter: isSeparator(line.slice(end)) } : run,
  );
}

const OPEN_TOKEN = /(?<![0-9A-Za-z])(?:0x?|\\x?|(?:0x|\\x)?[0-9A-Fa-f]{1,2})$|(?<=[0-9A-Fa-f]{2})\\x?[0-9A-Fa-f]{0,2}$/;

/**
 * Where the number begins that the line ends in, and that more of the line may complete; the line's length for none.
 */
export function findOpenToken(line: string): number {
  const open = /^[\s0-9A-Fa-f]*$/.test(line) ? /[0-9A-Fa-f]*$/.exec(line) : OPEN_TOKEN.exec(line);
  return open?.index ?? line.length;
}
