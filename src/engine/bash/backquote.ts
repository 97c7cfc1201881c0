/** What stands between backquotes: Bash removes backslashes from it and reads the rest as a script of its own. */
import { ExpressionError } from "../expression/error.ts";
import { commands } from "./frames.ts";
import { BACKQUOTED } from "./reasons.ts";
import { addToWord, pop, push, sinkHere, type Scanner } from "./scanner.ts";

/** Scans the text up to the closing backquote, and brings its edits back into the text around. */
export function backquote(scanner: Scanner): void {
  const sink = sinkHere(scanner);
  const around = scanner.frames.at(-1)?.kind;
  addToWord(scanner, "$");
  const from = scanner.at + 1;
  const close = closingBackquote(scanner.text, from, scanner.end);
  const raw = scanner.text.slice(from, close);
  const { text, places } = unescaped(raw, around === "double");
  const found = scanner.holes.length;
  const outside = { ...scanner };
  const placeOf = (offset: number): number => from + (places[offset] ?? close - from);
  Object.assign(scanner, {
    ...{ text, at: 0, end: text.length, edits: [] },
    offsetOf: (offset: number) => outside.offsetOf(placeOf(offset)),
  });
  push(scanner, commands("", sink), 0);
  scanText(scanner, placeOf);
  const { edits } = scanner;
  const { end, offsetOf } = outside;
  Object.assign(scanner, { text: outside.text, at: Math.min(close + 1, end), end, offsetOf, edits: outside.edits });
  for (const { start, end: stop, text: written } of edits)
    scanner.edits.push({ start: placeOf(start), end: placeOf(stop), text: written.replace(/[\\`]/g, "\\$&") });
  if (around === "commands" || !raw.includes("\\")) return;
  for (const hole of scanner.holes.slice(found)) hole.refusal ??= BACKQUOTED;
}

function scanText(scanner: Scanner, placeOf: (offset: number) => number): void {
  try {
    scanner.scanTo(scanner, scanner.text.length);
  } catch (error) {
    if (error instanceof ExpressionError) throw new ExpressionError(error.fault, error.message, placeOf(error.offset));
    throw error;
  }
  // A here-document without an end reads no line after the backquote.
  const frame = scanner.frames.at(-1);
  if (frame?.kind === "commands") frame.pending.length = 0;
  pop(scanner, 0);
}

function closingBackquote(text: string, from: number, end: number): number {
  let at = from;
  while (at < end && text[at] !== "`") at += text[at] === "\\" ? 2 : 1;
  return Math.min(at, end);
}

/** The text as Bash reads it, and the place of each of its characters; `quoted`: inside double quotes. */
function unescaped(raw: string, quoted: boolean): { readonly text: string; readonly places: readonly number[] } {
  const kept: string[] = [];
  const places: number[] = [];
  for (let at = 0; at < raw.length; at++) {
    const after = raw.charAt(at + 1);
    if (raw[at] === "\\" && after === "\n") {
      at++;
      continue;
    }
    places.push(at);
    if (raw[at] === "\\" && (after === "\\" || after === "`" || after === "$" || (quoted && after === '"'))) at++;
    kept.push(raw.charAt(at));
  }
  return { text: kept.join(""), places };
}
