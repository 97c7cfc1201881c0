/** A place in a text; both count from 1, the column in UTF-16 code units as editors do. */
export type Position = { readonly line: number; readonly column: number };

/** Answers where an offset of `text` stands. Lines end with LF; the CR of a CRLF belongs to its line. */
export function linesOf(text: string): (offset: number) => Position {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return (offset) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
}
