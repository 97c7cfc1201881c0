import type { Uuid } from "../../core/ids.ts";
import type { Status } from "../../engine/index.ts";
import type { Query } from "../../platform/db/db.ts";
import type { TriggeredBy, TriggerType } from "../execution.ts";

export type RecentRow = {
  readonly pipelineId: Uuid;
  readonly id: Uuid;
  readonly status: Status;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly runSequence: number;
  readonly triggerType: TriggerType;
  readonly triggeredBy: TriggeredBy;
};

/** The newest runs of each pipeline, newest first: for each, the end of its index of run numbers and no more. */
export const findRecent = (
  db: { readonly query: Query },
  accountId: Uuid,
  pipelineIds: readonly Uuid[],
  each: number,
): Promise<RecentRow[]> =>
  db.query<RecentRow>(
    `select e.pipeline_id as "pipelineId", e.id, e.status, e.started_at as "startedAt", e.ended_at as "endedAt",
            e.run_sequence as "runSequence", e.trigger_type as "triggerType", e.triggered_by as "triggeredBy"
       from unnest($2::uuid[]) as wanted (pipeline_id)
       cross join lateral (
         select * from executions e where e.account_id = $1 and e.pipeline_id = wanted.pipeline_id
          order by e.run_sequence desc limit $3) e
      order by e.pipeline_id, e.run_sequence desc`,
    [accountId, pipelineIds, each],
  );
