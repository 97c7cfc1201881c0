/**
 * The size of an answer before it is written. The same value under thirty names costs nothing in memory, and thirty times
 * its length as text.
 */

/** Characters of all texts and names of an answer, and a few for each other value. JSON may take six bytes for one. */
export const MAX_ANSWER = 16 * 1024 * 1024;
/** A number, a boolean or null. */
const SMALL = 8;

/** False when the value has more characters than `most`. */
export const fitsInto = (value: unknown, most: number = MAX_ANSWER): boolean => restAfter(value, most) >= 0;

function restAfter(value: unknown, rest: number): number {
  if (typeof value === "string") return rest - value.length;
  if (typeof value !== "object" || value === null) return rest - SMALL;
  const areNamed = !Array.isArray(value);
  let left = rest;
  for (const [name, part] of Object.entries(value)) {
    left = restAfter(part, areNamed ? left - name.length : left);
    if (left < 0) return left;
  }
  return left;
}
