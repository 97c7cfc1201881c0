/** A line-based difference of two texts, after Myers: the fewest lines that were removed and added. */

export type DiffLine = {
  readonly kind: "same" | "removed" | "added";
  readonly text: string;
  /** Numbers from 1 in the old and the new text, where the line is in it. */
  readonly before: number | undefined;
  readonly after: number | undefined;
};

/** Beyond it the search would take seconds and hundreds of megabytes: what differs is then shown as replaced. */
const MAX_EDITS = 2_000;

export function diffLines(before: string, after: string): readonly DiffLine[] {
  const old = splitLines(before);
  const now = splitLines(after);
  const start = commonStart(old, now);
  const end = commonEnd(old, now, start);
  const oldPart = old.slice(start, old.length - end);
  const newPart = now.slice(start, now.length - end);
  const kinds: readonly DiffLine["kind"][] = [
    ...Array<"same">(start).fill("same"),
    ...(shortestEdit(oldPart, newPart) ?? replacement(oldPart, newPart)),
    ...Array<"same">(end).fill("same"),
  ];
  let i = 0;
  let j = 0;
  return kinds.map((kind) => {
    if (kind !== "added") i += 1;
    if (kind !== "removed") j += 1;
    const text = (kind === "removed" ? old[i - 1] : now[j - 1]) ?? "";
    return { kind, text, before: kind === "added" ? undefined : i, after: kind === "removed" ? undefined : j };
  });
}

function splitLines(text: string): readonly string[] {
  if (text === "") return [];
  return text.replace(/\r?\n$/, "").split(/\r?\n/);
}

function commonStart(old: readonly string[], now: readonly string[]): number {
  let count = 0;
  while (count < old.length && count < now.length && old[count] === now[count]) count += 1;
  return count;
}

function commonEnd(old: readonly string[], now: readonly string[], start: number): number {
  const most = Math.min(old.length, now.length) - start;
  let count = 0;
  while (count < most && old[old.length - 1 - count] === now[now.length - 1 - count]) count += 1;
  return count;
}

const replacement = (old: readonly string[], now: readonly string[]): readonly DiffLine["kind"][] => [
  ...old.map(() => "removed" as const),
  ...now.map(() => "added" as const),
];

/**
 * 1. For each number of edits, find how far each diagonal reaches. 2. Keep the reach of each round. 3. Walk back from
 * the end. Undefined if there are too many edits.
 */
function shortestEdit(old: readonly string[], now: readonly string[]): readonly DiffLine["kind"][] | undefined {
  const rounds: Int32Array[] = [];
  const most = Math.min(old.length + now.length, MAX_EDITS);
  // Index k + edits + 1 has the reach of diagonal k.
  let reach = new Int32Array(3);
  for (let edits = 0; edits <= most; edits += 1) {
    const next = new Int32Array(2 * edits + 5);
    for (let k = -edits; k <= edits; k += 2) {
      const down = at(reach, edits - 1, k + 1);
      const right = at(reach, edits - 1, k - 1);
      let x = k === -edits || (k !== edits && right < down) ? down : right + 1;
      if (edits === 0) x = 0;
      while (x < old.length && x - k < now.length && old[x] === now[x - k]) x += 1;
      next[k + edits + 1] = x;
      if (x >= old.length && x - k >= now.length) return walkBack(rounds, edits, old.length, now.length);
    }
    rounds.push(next);
    reach = next;
  }
  return undefined;
}

const at = (reach: Int32Array, edits: number, k: number): number => reach[k + edits + 1] ?? 0;

function walkBack(rounds: readonly Int32Array[], edits: number, x: number, y: number): readonly DiffLine["kind"][] {
  const kinds: DiffLine["kind"][] = [];
  let [i, j] = [x, y];
  for (let d = edits; d > 0; d -= 1) {
    const reach = rounds[d - 1] ?? new Int32Array();
    const k = i - j;
    const isAdded = k === -d || (k !== d && at(reach, d - 1, k - 1) < at(reach, d - 1, k + 1));
    const previousI = at(reach, d - 1, isAdded ? k + 1 : k - 1);
    const previousJ = previousI - (isAdded ? k + 1 : k - 1);
    while (i > previousI + (isAdded ? 0 : 1) && j > previousJ + (isAdded ? 1 : 0)) {
      kinds.push("same");
      i -= 1;
      j -= 1;
    }
    kinds.push(isAdded ? "added" : "removed");
    [i, j] = [previousI, previousJ];
  }
  for (; i > 0; i -= 1) kinds.push("same");
  return kinds.toReversed();
}
