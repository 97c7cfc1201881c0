/** Lines that closed groups hide: rows of the page are the lines that remain. Rows count from 0, lines from 1. */
export type Hidden = { readonly from: number; readonly to: number };

export type Folding = {
  readonly rows: number;
  readonly lineOf: (row: number) => number;
  /** Of a hidden line, the row of the last line before it that is shown. */
  readonly rowOf: (line: number) => number;
};

export function createFolding(hidden: readonly Hidden[], totalLines: number): Folding {
  const ranges = merge(hidden, totalLines);
  let sum = 0;
  // `shown`: lines before the range that are shown.
  const parts = ranges.map(({ from, to }) => {
    const part = { from, to, shown: from - 1 - sum, hiddenBefore: sum };
    sum += to - from + 1;
    return part;
  });
  const rows = totalLines - sum;
  return {
    rows,
    lineOf: (row) => {
      const next = parts[countWhere(parts, ({ shown }) => shown <= row)];
      return row + 1 + (next?.hiddenBefore ?? sum);
    },
    rowOf: (line) => {
      const before = parts[countWhere(parts, ({ from }) => from <= line) - 1];
      if (before === undefined) return line - 1;
      if (line <= before.to) return Math.max(0, before.shown - 1);
      return line - 1 - before.hiddenBefore - (before.to - before.from + 1);
    },
  };
}

/** Ascending and apart from each other. */
function merge(hidden: readonly Hidden[], totalLines: number): readonly Hidden[] {
  const merged: Hidden[] = [];
  for (const { from, to } of hidden.toSorted((one, other) => one.from - other.from)) {
    const end = Math.min(to, totalLines);
    if (end < from) continue;
    const last = merged.at(-1);
    if (last !== undefined && from <= last.to + 1) merged[merged.length - 1] = { ...last, to: Math.max(last.to, end) };
    else merged.push({ from, to: end });
  }
  return merged;
}

/** How many items at the beginning fulfil the condition, which no item after them does. */
function countWhere<T>(items: readonly T[], condition: (item: T) => boolean): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const item = items[middle];
    if (item !== undefined && condition(item)) low = middle + 1;
    else high = middle;
  }
  return low;
}
