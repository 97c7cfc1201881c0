/**
 * The lines of a log that the page holds: those that are shown and some around them. What is far from them is
 * forgotten, so that the memory does not depend on the length of the log.
 */
import { createHeldLines } from "./held-lines.ts";
import type { LineRange, LinesAnswer, LogLine, LogReader } from "./log-answers.ts";

export type LogSize = Pick<LinesAnswer, "totalLines" | "endOffset" | "complete">;

/** Lines that are read before and behind those that are missing. */
const AROUND = 100;
const MOST_AT_ONCE = 500;
/** Lines at the end that are read when the log has grown and its end is shown. */
const TAIL_LINES = 200;

export type LineStore = ReturnType<typeof createLineStore>;

/** Reads nothing until `open` is called. */
export function createLineStore(read: LogReader["lines"]) {
  const lines = createHeldLines();
  const listeners = new Set<() => void>();
  const stopped = new AbortController();
  let size: LogSize | undefined;
  let error: unknown;
  let first: LineRange | undefined;
  /** Numbers of the lines that are shown, ascending. */
  let wanted: readonly number[] = [];
  let isAtEnd = false;
  let hasGrown = false;
  let isReading = false;
  /** How often the first line that is missing was not in the answer. */
  let misses = 0;
  let revision = 0;

  function notify(): void {
    revision += 1;
    for (const listener of listeners) listener();
  }

  function receive({ lines: received, totalLines, endOffset, complete }: LinesAnswer): void {
    // The last line may have been open.
    if (size !== undefined && totalLines > size.totalLines) lines.forget(size.totalLines);
    size = { totalLines, endOffset, complete };
    for (const line of received) lines.add(line);
  }

  const firstMissing = (): number | undefined => {
    const last = size?.totalLines ?? 0;
    return wanted.find((number) => number <= last && !lines.has(number));
  };

  function nextRange(): LineRange | undefined {
    if (size === undefined) return first;
    const begin = firstMissing();
    // An answer is short if its lines are long: then it is asked for from this line on.
    if (begin !== undefined && misses === 1) return { from: begin, limit: AROUND };
    if (begin !== undefined && misses === 0) return rangeAround(begin, wanted, size.totalLines);
    if (!hasGrown) return undefined;
    hasGrown = false;
    return isAtEnd ? { last: TAIL_LINES } : { from: Math.max(1, size.totalLines), limit: 1 };
  }

  async function pump(): Promise<void> {
    if (isReading || error !== undefined) return;
    isReading = true;
    try {
      for (let range = nextRange(); range !== undefined && !stopped.signal.aborted; range = nextRange()) {
        const missing = firstMissing();
        receive(await read(range, stopped.signal));
        misses = missing !== undefined && firstMissing() === missing ? misses + 1 : 0;
        notify();
      }
    } catch (caught) {
      if (stopped.signal.aborted) return;
      error = caught;
      notify();
    } finally {
      isReading = false;
    }
  }

  return {
    /** The part that is shown first: it also tells how long the log is. */
    open(range: LineRange): void {
      first = range;
      void pump();
    },
    /** `atEnd`: the reader follows the end of the log. */
    want(numbers: readonly number[], atEnd: boolean): void {
      isAtEnd = atEnd;
      if (numbers[0] !== wanted[0]) misses = 0;
      wanted = numbers;
      lines.forgetDistant(wanted);
      void pump();
    },
    /** The log has more than before, or has ended. */
    grow(): void {
      if (size?.complete === true) return;
      hasGrown = true;
      void pump();
    },
    /** After a failure. */
    retry(): void {
      if (error === undefined) return;
      error = undefined;
      notify();
      void pump();
    },
    stop: (): void => stopped.abort(),
    line: (number: number): LogLine | undefined => lines.get(number),
    /** Undefined until the first answer. */
    size: () => size,
    error: () => error,
    held: (): number => lines.count(),
    revision: () => revision,
    subscribe: (listener: () => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** One request for all wanted lines that lie together, with some lines around them. */
function rangeAround(begin: number, wanted: readonly number[], totalLines: number): LineRange {
  const from = Math.max(1, begin - AROUND);
  const most = Math.min(totalLines, from + MOST_AT_ONCE - 1);
  const end = wanted.findLast((number) => number <= most) ?? begin;
  return { from, limit: Math.min(most, end + AROUND) - from + 1 };
}
