/** How one text became another, line by line. */

/** A run of removed lines and of those that replace them; lines count from 1. */
export type Hunk = {
  readonly before: { readonly line: number; readonly count: number };
  readonly after: { readonly line: number; readonly count: number };
};

// The limit of table cells: less than a millisecond. A larger difference is reported as a complete replacement.
const MAX_CELLS = 250_000;

// 1. Cut off the common beginning and end. 2. Find the longest common lines of the rest. 3. Collect the lines between
// them.
export function lineDiff(before: readonly string[], after: readonly string[]): Hunk[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let [endBefore, endAfter] = [before.length, after.length];
  while (endBefore > start && endAfter > start && before[endBefore - 1] === after[endAfter - 1]) {
    endBefore -= 1;
    endAfter -= 1;
  }
  const [left, right] = [before.slice(start, endBefore), after.slice(start, endAfter)];
  if (left.length === 0 && right.length === 0) return [];
  const common = left.length * right.length > MAX_CELLS ? [] : commonLines(left, right);
  return between(common, left.length, right.length).map((hunk) => ({
    before: { ...hunk.before, line: hunk.before.line + start },
    after: { ...hunk.after, line: hunk.after.line + start },
  }));
}

type Pair = readonly [left: number, right: number];

/** A longest common subsequence of both lists, as pairs of indexes. */
function commonLines(left: readonly string[], right: readonly string[]): Pair[] {
  const width = right.length + 1;
  const longest = new Uint16Array((left.length + 1) * width);
  const at = (l: number, r: number): number => longest[l * width + r] ?? 0;
  for (let l = left.length - 1; l >= 0; l -= 1)
    for (let r = right.length - 1; r >= 0; r -= 1)
      longest[l * width + r] = left[l] === right[r] ? at(l + 1, r + 1) + 1 : Math.max(at(l + 1, r), at(l, r + 1));
  const pairs: Pair[] = [];
  for (let l = 0, r = 0; l < left.length && r < right.length;) {
    if (left[l] === right[r]) pairs.push([l++, r++]);
    else if (at(l + 1, r) >= at(l, r + 1)) l += 1;
    else r += 1;
  }
  return pairs;
}

function between(common: readonly Pair[], left: number, right: number): Hunk[] {
  const hunks: Hunk[] = [];
  let [l, r] = [0, 0];
  for (const [nextLeft, nextRight] of [...common, [left, right] as const]) {
    if (nextLeft > l || nextRight > r)
      hunks.push({ before: { line: l + 1, count: nextLeft - l }, after: { line: r + 1, count: nextRight - r } });
    [l, r] = [nextLeft + 1, nextRight + 1];
  }
  return hunks;
}
