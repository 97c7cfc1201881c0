/** Counts of executions by day, status and duration. An index has all that is read. */
import type { Uuid } from "../../core/ids.ts";
import type { Status } from "../../engine/index.ts";
import type { Query } from "../../platform/db/db.ts";
import { UNPREPARED } from "../../platform/db/pool/statements.ts";
import { whereOf, type ExecutionFilter } from "./conditions.ts";

export type StatisticsRow = {
  /** From 1. */
  readonly day: number;
  readonly status: Status;
  /** Of `durationOf`; null for an execution that has not begun. */
  readonly step: number | null;
  readonly runs: number;
};

/** Steps for each factor e: the logarithm of a duration. A duration differs from that of its step by 2.5 % at most. */
const STEPS = 20;

/** Milliseconds. */
export const durationOf = (step: number): number => Math.round(Math.exp(step / STEPS));

/**
 * The executions that have ended, by the day in which they began. `starts`: of the days, and the end of the last one.
 * Percentiles of a million durations would be sorted on disk; the steps are counted in one pass.
 */
export async function countByDay(
  db: { readonly query: Query },
  accountId: Uuid,
  filter: ExecutionFilter,
  starts: readonly number[],
): Promise<readonly StatisticsRow[]> {
  const { where, values } = whereOf(accountId, filter);
  return db.query<StatisticsRow>(
    `${UNPREPARED}select width_bucket(e.begun_at, $${values.push(starts)}::bigint[]) as day, e.status,
            case when e.started_at is not null
                 then round(ln(greatest(e.ended_at - e.started_at, 1)) * ${STEPS})::int end as step,
            count(*)::int as runs
       from executions e where ${where} and e.ended_at is not null group by 1, 2, 3`,
    values,
  );
}
