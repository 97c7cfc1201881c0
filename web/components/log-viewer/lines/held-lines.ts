/** Lines by their numbers, up to a limit: beyond it those that are far from the ones in sight are forgotten. */
import type { LogLine } from "./log-answers.ts";

export const MOST_LINES = 3_000;
const MOST_CHARACTERS = 4 * 1024 * 1024;
/** How far from those in sight lines are kept, less each time until they are few enough. */
const REACHES = [500, 100, 0];

export function createHeldLines() {
  const lines = new Map<number, LogLine>();
  let characters = 0;

  function forget(number: number): void {
    characters -= lines.get(number)?.text.length ?? 0;
    lines.delete(number);
  }

  const isFull = (): boolean => lines.size > MOST_LINES || characters > MOST_CHARACTERS;

  return {
    get: (number: number): LogLine | undefined => lines.get(number),
    has: (number: number): boolean => lines.has(number),
    count: (): number => lines.size,
    add(line: LogLine): void {
      forget(line.number);
      lines.set(line.number, line);
      characters += line.text.length;
    },
    forget,
    /** `wanted` ascends. */
    forgetDistant(wanted: readonly number[]): void {
      for (const reach of REACHES) {
        if (!isFull()) return;
        for (const number of lines.keys()) if (distanceTo(wanted, number) > reach) forget(number);
      }
    },
  };
}

/** From the nearest of the numbers, which ascend. */
function distanceTo(numbers: readonly number[], number: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) < number) low = middle + 1;
    else high = middle;
  }
  const after = (numbers[low] ?? Number.POSITIVE_INFINITY) - number;
  return Math.min(after, number - (numbers[low - 1] ?? Number.NEGATIVE_INFINITY));
}
