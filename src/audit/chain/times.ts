/**
 * Timestamps in a chain. Entries are sealed in the order of their transactions, so timestamps may decrease. A change
 * takes its timestamp during its transaction, so a large decrease means a wrong clock or a forged entry. Refused
 * attempts are exempt, since they may wait for an unavailable database.
 */
import type { Uuid } from "../../core/ids.ts";
import type { Outcome } from "../entry.ts";

export type Timed = { readonly sequence: number; readonly entryId: Uuid; readonly at: number };

/**
 * Changes whose timestamp is more than `BACK_MS` before that of an earlier seal: the first one, the entry that it is
 * behind, and their number.
 */
export type DecreasedTime = { readonly first: Timed; readonly behind: Timed; readonly entries: number };

export type Times = { readonly latest: Timed | undefined; readonly back: DecreasedTime | undefined };

/** Longer than the longest transaction plus the difference between the clocks of replicas. */
export const BACK_MS = 10 * 60_000;

export const NO_TIMES: Times = { latest: undefined, back: undefined };

/**
 * The times including one more entry. `judged` is false before a noted head: those entries were reported when it was
 * noted.
 */
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
