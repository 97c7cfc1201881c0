/**
 * The size of an answer before it is written. The same value under thirty names costs nothing in memory, and thirty
 * times its length as text.
 */

/** Characters of all texts and names of an answer, and a few for each other value. JSON may take six bytes for one. */
export const MAX_ANSWER = 16 * 1024 * 1024;
/** A number, a boolean or null. */
const SMALL = 8;

/** False when the value has more than `maxSize` characters. */
export const fitsInto = (value: unknown, maxSize: number = MAX_ANSWER): boolean => restAfter(value, maxSize) >= 0;

function restAfter(value: unknown, rest: number): number {
  if (typeof value === "string") return rest - value.length;
  if (typeof value !== "object" || value === null) return rest - SMALL;
  return Array.isArray(value) ? restAfterItems(value, rest) : restAfterFields(value as Fields, rest);
}

function restAfterItems(items: readonly unknown[], rest: number): number {
  let left = rest;
  for (const item of items) {
    left = restAfter(item, left);
    if (left < 0) return left;
  }
  return left;
}

type Fields = Readonly<Record<string, unknown>>;

/** Runs for every answer, so it creates no pairs of names and values. */
function restAfterFields(fields: Fields, rest: number): number {
  let left = rest;
  for (const name of Object.keys(fields)) {
    left = restAfter(fields[name], left - name.length);
    if (left < 0) return left;
  }
  return left;
}
