/**
 * Finds a text in another. The engine's own search compares up to n × m characters for a long pattern such as
 * `baaa…`; both texts may come from outside, so long patterns are searched with a table (Knuth, Morris, Pratt).
 */

/** Up to this length of a pattern the native search is quick on every text. */
const SHORT = 16;

/** Offsets of the occurrences of `wanted` from `from` on, none overlapping another. `wanted` is not empty. */
export function* occurrences(text: string, wanted: string, from = 0): Generator<number, void> {
  if (wanted.length > SHORT) {
    yield* byTable(text, wanted, from);
    return;
  }
  for (let at = text.indexOf(wanted, from); at >= 0; at = text.indexOf(wanted, at + wanted.length)) yield at;
}

/** The first offset of `wanted` from `from` on; -1 if there is none. */
export function firstOffset(text: string, wanted: string, from = 0): number {
  if (wanted === "") return Math.min(from, text.length);
  for (const at of occurrences(text, wanted, from)) return at;
  return -1;
}

/** The last offset of `wanted`; -1 if there is none. */
export function lastOffset(text: string, wanted: string): number {
  if (wanted.length <= SHORT) return text.lastIndexOf(wanted);
  let last = -1;
  // From the offset after the last one, as occurrences may overlap.
  for (const at of byTable(text, wanted, 0, true)) last = at;
  return last;
}

function* byTable(text: string, wanted: string, from: number, mayOverlap = false): Generator<number, void> {
  const borders = bordersOf(wanted);
  let matched = 0;
  for (let at = from; at < text.length; at++) {
    while (matched > 0 && text[at] !== wanted[matched]) matched = borders[matched - 1] ?? 0;
    if (text[at] === wanted[matched]) matched++;
    if (matched < wanted.length) continue;
    yield at - wanted.length + 1;
    matched = mayOverlap ? (borders[matched - 1] ?? 0) : 0;
  }
}

/** For each prefix the length of its longest beginning that is its end, too. */
function bordersOf(wanted: string): Uint32Array {
  const borders = new Uint32Array(wanted.length);
  let matched = 0;
  for (let at = 1; at < wanted.length; at++) {
    while (matched > 0 && wanted[at] !== wanted[matched]) matched = borders[matched - 1] ?? 0;
    if (wanted[at] === wanted[matched]) matched++;
    borders[at] = matched;
  }
  return borders;
}
