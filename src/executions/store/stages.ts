import type { Uuid } from "../../core/ids.ts";
import type { Status } from "../../engine/index.ts";
import type { Query } from "../../platform/db/db.ts";
import { UNPREPARED } from "../../platform/db/pool/statements.ts";
import type { StoredStages, StoredStates } from "../stage.ts";
import { type ExecutionFilter, whereOf } from "./conditions.ts";
import { nodesAsJson } from "./node-rows.ts";
import type { StoredExecution } from "../stored.ts";

type Store = { readonly query: Query };

export type StagesRow = {
  readonly id: Uuid;
  readonly status: Status;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** Null for a run that an older server started and that was not read since. */
  readonly stages: StoredStages | null;
  /** Null also for a run that was quarantined and not read since. */
  readonly stageStates: StoredStates | null;
  /** Of the two columns as text. */
  readonly bytes: number;
};

/** The stages of these executions as their own columns have them; plans and states are large and are not read. */
export async function findStages(db: Store, accountId: Uuid, filter: ExecutionFilter): Promise<StagesRow[]> {
  const { where, values } = whereOf(accountId, filter);
  return db.query<StagesRow>(
    `${UNPREPARED}select e.id, e.status, e.started_at as "startedAt", e.ended_at as "endedAt",
            e.stages, e.stage_states as "stageStates",
            coalesce(octet_length(e.stages::text), 0) + coalesce(octet_length(e.stage_states::text), 0) as bytes
       from executions e where ${where}`,
    values,
  );
}

/** The state of a run and of these nodes without its plan. */
export async function findState(
  db: Store,
  accountId: Uuid,
  id: Uuid,
  nodes: readonly string[],
): Promise<Omit<StoredExecution, "plan"> | undefined> {
  const rows = await db.query<Omit<StoredExecution, "plan">>(
    `select e.header, e.format, e.status, e.started_at as "startedAt", e.ended_at as "endedAt", ${nodesAsJson("n.id = any($3::uuid[])")} as nodes
       from executions e where e.account_id = $1 and e.id = $2`,
    [accountId, id, nodes],
  );
  return rows[0];
}

/**
 * Completes a run that has this status. Stages that are stored stay as they are, and so do their states if `states` is
 * null. Leaves out a run that another transaction has locked; the next list completes it.
 */
export async function saveStages(
  db: Store,
  accountId: Uuid,
  id: Uuid,
  status: Status,
  to: { readonly stages: StoredStages; readonly states: StoredStates | null; readonly lastNode: string | null },
): Promise<void> {
  await db.query(
    `update executions set stages = coalesce(stages, $3), stage_states = coalesce($4, stage_states),
            last_node_id = coalesce(last_node_id, $5)
      where account_id = $1 and id = (
        select id from executions where account_id = $1 and id = $2 and status = $6 for update skip locked)`,
    [accountId, id, JSON.stringify(to.stages), to.states && JSON.stringify(to.states), to.lastNode, status],
  );
}
