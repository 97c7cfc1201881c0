/**
 * Times in a chain. They are no order: entries are sealed in the order of their transactions, and say when they were made.
 * But a change says so while its transaction runs, so none is sealed long after what was made later, unless a clock
 * was wrong, or somebody has put it in with a time of their own. Refused attempts may wait for a database that is away.
 */
import type { Uuid } from "../core/ids.ts";
import type { Outcome } from "./entry.ts";

export type Timed = { readonly sequence: number; readonly entryId: Uuid; readonly at: number };

/** Changes that say a time more than `BACK_MS` before one that was sealed earlier: the first, what it is behind, how many. */
export type RunBack = { readonly first: Timed; readonly behind: Timed; readonly entries: number };

export type Times = { readonly latest: Timed | undefined; readonly back: RunBack | undefined };

/** Beyond the longest transaction and what clocks of replicas differ by. */
export const BACK_MS = 10 * 60_000;

export const NO_TIMES: Times = { latest: undefined, back: undefined };

/** The times with one entry more; one that is not `judged` was looked at by whoever has noted a head behind it. */
export function withTime(
  { latest, back }: Times,
  { sequence, entryId, at, outcome }: Timed & { readonly outcome: Outcome },
  judged: boolean,
): Times {
  const one = { sequence, entryId, at };
  if (!latest || one.at >= latest.at) return { latest: one, back };
  const isBack = judged && outcome === "success" && one.at < latest.at - BACK_MS;
  if (!isBack) return { latest, back };
  return { latest, back: back ? { ...back, entries: back.entries + 1 } : { first: one, behind: latest, entries: 1 } };
}
