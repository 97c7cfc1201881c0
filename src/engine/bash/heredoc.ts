import type { Heredoc } from "./frames.ts";

const ENDS_WORD = new Set([" ", "\t", "\n", ";", "&", "|", "(", ")", "<", ">"]);

/** The delimiter after `<<`, whose first character stands at `from`. Any quoting in it makes the body literal. */
export function delimiterAt(text: string, from: number): Heredoc {
  const stripTabs = text[from] === "-";
  let at = stripTabs ? from + 1 : from;
  while (text[at] === " " || text[at] === "\t") at++;
  const start = at;
  let delimiter = "";
  let quoted = false;
  while (at < text.length && !ENDS_WORD.has(text.charAt(at))) {
    const c = text.charAt(at);
    quoted ||= c === "'" || c === '"' || c === "\\";
    const [piece, end] = pieceAt(text, at);
    delimiter += piece;
    at = end;
  }
  return { delimiter, quoted, stripTabs, from: start, to: at };
}

function pieceAt(text: string, at: number): readonly [piece: string, end: number] {
  const c = text.charAt(at);
  if (c === "\\") return [text.charAt(at + 1), at + 2];
  if (c !== "'" && c !== '"') return [c, at + 1];
  const close = text.indexOf(c, at + 1);
  return close < 0 ? [text.slice(at + 1), text.length] : [text.slice(at + 1, close), close + 1];
}

/** Where the body that begins at `start` ends, and where the line after its delimiter begins. */
export function bodyOf(text: string, start: number, limit: number, heredoc: Heredoc): { end: number; after: number } {
  let continued = false;
  for (let line = start; line < limit;) {
    const newline = text.indexOf("\n", line);
    const end = newline < 0 || newline > limit ? limit : newline;
    let first = line;
    while (heredoc.stripTabs && text[first] === "\t") first++;
    if (!continued && text.slice(first, end) === heredoc.delimiter)
      return { end: line, after: Math.min(end + 1, limit) };
    // Where the body expands, Bash joins a line that ends in a backslash to the next one before it compares.
    continued = !heredoc.quoted && endsInBackslash(text, line, end);
    line = end + 1;
  }
  return { end: limit, after: limit };
}

function endsInBackslash(text: string, start: number, end: number): boolean {
  let at = end;
  while (at > start && text[at - 1] === "\\") at--;
  return (end - at) % 2 === 1;
}

/** A part of a body that expands, so that Bash puts out the same bytes as of one that does not. */
export const escapeBody = (literal: string): string => literal.replace(/[\\$`]/g, "\\$&");

/** A word that needs no quotes as a delimiter and is no line of the body. */
export function plainDelimiter({ delimiter }: Heredoc, body: string): string {
  // An escaped line never equals a word without backslashes, so the body cannot end earlier than before.
  if (/^[A-Za-z0-9_.:,%@+-]+$/.test(delimiter)) return delimiter;
  let word = "END_OF_TEXT";
  while (body.includes(word)) word += "_";
  return word;
}
