/** A place in a text: `offset` counts UTF-16 units from 0, line and column count from 1. */
export type Position = { readonly offset: number; readonly line: number; readonly column: number };

/** What is wrong, and where. */
export type TextFault = Position & { readonly message: string };

/** The line and column of an offset; the cost is the length of the text before it. */
export function positionAt(text: string, offset: number): Position {
  let line = 1;
  let start = 0;
  for (let at = text.indexOf("\n"); at >= 0 && at < offset; at = text.indexOf("\n", at + 1)) {
    line++;
    start = at + 1;
  }
  return { offset, line, column: offset - start + 1 };
}
