/** What a number of executions that have ended come to. */
import type { Status } from "../../engine/index.ts";
import { durationOf, type StatisticsRow } from "../store/statistics.ts";

export type RunsSummary = {
  readonly runs: number;
  readonly statuses: Readonly<Partial<Record<Status, number>>>;
  /** The part that succeeded, from 0 to 1; null without executions. */
  readonly successRate: number | null;
  /** Milliseconds from the start to the end; null if none has begun. */
  readonly durationP50: number | null;
  readonly durationP95: number | null;
};

type Counted = Pick<StatisticsRow, "status" | "step" | "runs">;

const SUCCESSES: readonly Status[] = ["succeeded", "ignored"];

export function summaryOfRuns(rows: readonly Counted[]): RunsSummary {
  const statuses: Partial<Record<Status, number>> = {};
  for (const { status, runs } of rows) statuses[status] = (statuses[status] ?? 0) + runs;
  const runs = sum(rows);
  const succeeded = SUCCESSES.reduce((total, status) => total + (statuses[status] ?? 0), 0);
  return {
    ...{ runs, statuses },
    successRate: runs === 0 ? null : succeeded / runs,
    durationP50: percentile(rows, 0.5),
    durationP95: percentile(rows, 0.95),
  };
}

const sum = (rows: readonly Counted[]): number => rows.reduce((total, { runs }) => total + runs, 0);

/** The least duration that this part of the executions does not exceed. */
function percentile(rows: readonly Counted[], part: number): number | null {
  const begun = rows
    .flatMap(({ step, runs }) => (step === null ? [] : [{ step, runs }]))
    .toSorted((a, b) => a.step - b.step);
  const rank = Math.ceil(begun.reduce((total, { runs }) => total + runs, 0) * part);
  let seen = 0;
  for (const { step, runs } of begun) {
    seen += runs;
    if (seen >= rank) return durationOf(step);
  }
  return null;
}
