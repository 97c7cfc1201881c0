import { linesOf } from "../position/lines.ts";
import { clip } from "../position/path.ts";

/** What one pass over a JSON text tells before anything is made of it. A text that is no JSON may be told anything. */
export type JsonScan = {
  /** Where brackets first nest deeper than allowed; the pass ends there. */
  readonly tooDeep: number | undefined;
  /** The first key that its object already has: parsers differ in which of the two they keep. */
  readonly twice: { readonly at: number; readonly key: string } | undefined;
  /**
   * Where numbers stand, from and to, that have so many digits, or an exponent, that they may not be held as they were
   * written.
   */
  readonly oddNumbers: readonly (readonly [from: number, to: number])[];
};

/** The keys of an object that is open; null in a list. Most objects are done before a set would be worth making. */
type Open = { first: string | undefined; more: Set<string> | undefined; keyNext: boolean } | null;

const SAFE_DIGITS = 15;

export function scanJson(text: string, maxDepth: number): JsonScan {
  const open: Open[] = [];
  let inner: Open = null;
  let twice: JsonScan["twice"];
  const oddNumbers: [number, number][] = [];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22) {
      const end = stringEnd(text, at);
      if (inner?.keyNext === true) {
        inner.keyNext = false;
        const key = keyOf(text, at, end);
        twice ??= recordKey(inner, key) ? { at, key } : undefined;
      }
      at = end;
    } else if (code === 0x2c) {
      if (inner) inner.keyNext = true;
    } else if (code === 0x7b || code === 0x5b) {
      if (open.length >= maxDepth) return { tooDeep: at, twice, oddNumbers };
      inner = code === 0x7b ? { first: undefined, more: undefined, keyNext: true } : null;
      open.push(inner);
    } else if (code === 0x7d || code === 0x5d) {
      open.pop();
      inner = open.at(-1) ?? null;
    } else if (code >= 0x30 && code <= 0x39) {
      const end = numberEnd(text, at);
      if (isOdd(text, at, end)) oddNumbers.push([text[at - 1] === "-" ? at - 1 : at, end]);
      at = end - 1;
    }
  }
  return { tooDeep: undefined, twice, oddNumbers };
}

/** The sentence about a key that is given twice, with its place; undefined when no key is. */
export function describeDuplicateKey(
  text: string,
  { twice }: Pick<JsonScan, "twice"> = scanJson(text, Infinity),
): string | undefined {
  if (!twice) return undefined;
  const { line, column } = linesOf(text)(twice.at);
  return `The key '${clip(twice.key)}' is given twice, at line ${line}, column ${column}`;
}

/** Adds a key to those of the object. Returns whether the object had it already. */
function recordKey(object: NonNullable<Open>, key: string): boolean {
  if (object.first === undefined) {
    object.first = key;
    return false;
  }
  object.more ??= new Set([object.first]);
  if (object.more.has(key)) return true;
  object.more.add(key);
  return false;
}

/** The key itself, so that one with escapes is found to be the same. */
function keyOf(text: string, at: number, end: number): string {
  const raw = text.slice(at + 1, end);
  if (!raw.includes("\\")) return raw;
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    return raw;
  }
}

function numberEnd(text: string, at: number): number {
  let end = at + 1;
  for (; end < text.length; end += 1) {
    const code = text.charCodeAt(end);
    const isPart = (code >= 0x30 && code <= 0x39) || code === 0x2e || code === 0x65 || code === 0x45;
    if (!isPart && code !== 0x2b && code !== 0x2d) break;
  }
  return end;
}

function isOdd(text: string, at: number, end: number): boolean {
  if (end - at > SAFE_DIGITS) return true;
  for (let index = at; index < end; index += 1) if ((text.charCodeAt(index) | 0x20) === 0x65) return true;
  return false;
}

/** The offset of the quote that closes the string opened at `from`, or the end of the text. */
export function stringEnd(text: string, from: number): number {
  let quote = text.indexOf('"', from + 1);
  while (quote > 0 && isEscaped(text, from, quote)) quote = text.indexOf('"', quote + 1);
  return quote < 0 ? text.length : quote;
}

/** Whether an odd number of backslashes stands before the quote. */
function isEscaped(text: string, from: number, quote: number): boolean {
  let at = quote;
  while (at - 1 > from && text.charCodeAt(at - 1) === 0x5c) at -= 1;
  return (quote - at) % 2 === 1;
}
