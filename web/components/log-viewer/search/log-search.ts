/** A search of the whole log: the API looks through a part with each request, and the hits come as it goes on. */
import type { LogReader } from "../lines/log-answers.ts";

/** Numbers of lines that are kept: what has more hits is no longer looked for. */
export const MOST_HITS = 50_000;

export type LogSearch = ReturnType<typeof createLogSearch>;

export function createLogSearch(search: LogReader["search"], text: string) {
  const stopped = new AbortController();
  const listeners = new Set<() => void>();
  const hits: number[] = [];
  let next = 0;
  /** Of the log, from 0 to 1. */
  let progress = 0;
  let isSearching = false;
  /** The log has grown meanwhile. */
  let isDue = false;
  let error: unknown;
  let revision = 0;

  function notify(): void {
    revision += 1;
    for (const listener of listeners) listener();
  }

  async function run(): Promise<void> {
    isDue = true;
    if (isSearching) return;
    isSearching = true;
    error = undefined;
    try {
      for (let more = true; (more || isDue) && hits.length < MOST_HITS;) {
        isDue = false;
        const answer = await search(text, next, stopped.signal);
        // The line that the part before ended in may come again.
        const last = hits.at(-1) ?? 0;
        hits.push(...answer.hits.filter((number) => number > last));
        ({ next, more } = answer);
        progress = answer.endOffset === 0 ? 1 : next / answer.endOffset;
        if (more) notify();
      }
    } catch (caught) {
      if (!stopped.signal.aborted) error = caught;
    }
    isSearching = false;
    notify();
  }

  return {
    text,
    /** Looks through what is new since the last time. */
    run: (): void => void run(),
    stop: (): void => stopped.abort(),
    hits: (): readonly number[] => hits,
    isSearching: () => isSearching,
    /** Whether there may be more hits than are kept. */
    isCut: (): boolean => hits.length >= MOST_HITS,
    progress: () => progress,
    error: () => error,
    revision: () => revision,
    subscribe: (listener: () => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** The index of the hit before or after a line. It wraps around at the ends. -1 without hits. */
export function neighbourHit(hits: readonly number[], line: number, direction: 1 | -1): number {
  if (hits.length === 0) return -1;
  const [behind, at] = [countUpTo(hits, line), countUpTo(hits, line - 1)];
  if (direction === 1) return behind === hits.length ? 0 : behind;
  return at === 0 ? hits.length - 1 : at - 1;
}

/** How many of the ascending numbers are at most `most`. */
export function countUpTo(numbers: readonly number[], most: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) <= most) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** In which of `parts` equal parts of the log there are hits. */
export function hitParts(hits: readonly number[], totalLines: number, parts: number): readonly number[] {
  const found = new Set<number>();
  for (const line of hits) found.add(Math.min(parts - 1, Math.floor(((line - 1) / Math.max(1, totalLines)) * parts)));
  return [...found];
}
