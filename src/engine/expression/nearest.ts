/** Longer names are not compared: the cost grows with the product of both lengths. */
const MAX_CHARS = 40;

/** The candidate that a misspelt name was probably meant to be; undefined if none is close. */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  if (name.length > MAX_CHARS) return undefined;
  let found: string | undefined;
  // A third of the characters may differ, in short names one.
  let least = Math.max(1, Math.floor(name.length / 3)) + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - name.length) >= least) continue;
    const edits = distance(name.toLowerCase(), candidate.toLowerCase());
    if (edits >= least) continue;
    least = edits;
    found = candidate;
  }
  return found;
}

/** Insertions, deletions, replacements and swaps of neighbours that make one text the other. */
function distance(left: string, right: string): number {
  let before: number[] = [];
  let above = Array.from({ length: right.length + 1 }, (_, at) => at);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let at = 1; at <= right.length; at++) {
      const isEqual = left[row - 1] === right[at - 1];
      const isSwap = row > 1 && at > 1 && left[row - 1] === right[at - 2] && left[row - 2] === right[at - 1];
      current[at] = Math.min(
        (above[at] ?? 0) + 1,
        (current[at - 1] ?? 0) + 1,
        (above[at - 1] ?? 0) + (isEqual ? 0 : 1),
        isSwap ? (before[at - 2] ?? 0) + 1 : Infinity,
      );
    }
    before = above;
    above = current;
  }
  return above[right.length] ?? 0;
}
