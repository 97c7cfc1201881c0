/** Start and end of each fault of a run, by the monotonic clock of this program. */
import type { Target } from "./names.ts";

/** Milliseconds since the start of the run; `to` is infinite while the outage lasts. */
export type Outage = { readonly target: Target; readonly kind: string; readonly from: number; to: number };

export type Timeline = {
  readonly now: () => number;
  /** Records the start. The returned function records the end. */
  readonly begin: (target: Target, kind: string) => () => void;
  readonly outages: () => readonly Outage[];
};

export function startTimeline(): Timeline {
  const started = performance.now();
  const now = (): number => performance.now() - started;
  const outages: Outage[] = [];
  return {
    now,
    begin: (target, kind) => {
      const outage: Outage = { target, kind, from: now(), to: Number.POSITIVE_INFINITY };
      outages.push(outage);
      return () => void (outage.to = now());
    },
    outages: () => outages,
  };
}

/**
 * Returns the longest overlap of these outages with the time from `from` to `to`. Outages less than `gap` apart count
 * as one.
 */
export function longestOutage(outages: readonly Outage[], from: number, to: number, gap: number): number {
  let length = 0;
  let open: { from: number; to: number } | undefined;
  for (const outage of outages.toSorted((a, b) => a.from - b.from)) {
    if (open && outage.from - open.to < gap) open.to = Math.max(open.to, outage.to);
    else open = { from: outage.from, to: outage.to };
    if (open.to >= from && open.from <= to) length = Math.max(length, Math.min(open.to, to) - open.from);
  }
  return length;
}
