/** What one event reads and writes of an execution, under the lock of its row (docs/architecture.md#invariants). */
import { FORMAT, type InstanceId, type NodeState, type State } from "../../engine/index.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Store } from "../../platform/db/db.ts";
import { storable } from "../marks.ts";
import type { StoredExecution } from "../stored.ts";
import { jsonOfNodes, nodesOfRows, type NodeChange, type NodeRow } from "../node-rows.ts";
import type { RecentChange, Revision } from "../recent-changes.ts";
import { FINAL_STATUSES } from "./final-statuses.ts";
import { NODE_COLUMNS, NODES_AS_JSON, upsertNodes } from "./node-rows.ts";
import { deleteTimers, insertTimers, timerValues, type TimerChanges } from "./timers.ts";

export type RunKey = { readonly accountId: Uuid; readonly id: Uuid };

/** The header as it is stored: of format 1 the whole state. */
export type StoredHeader = Revision & {
  readonly projectId: Uuid;
  readonly format: number;
  readonly header: unknown;
};

/** Locked until the transaction ends: events of one execution take turns (invariant 2). Undefined without such an execution. */
export async function lockHeader(db: Store, { accountId, id }: RunKey): Promise<StoredHeader | undefined> {
  const rows = await db.query<StoredHeader>(
    `select project_id as "projectId", format, revision, recent, header from executions
      where account_id = $1 and id = $2 for no key update`,
    [accountId, id],
  );
  return rows[0];
}

/** A plan as it is stored, with the length of its JSON in characters. */
export async function findPlan(
  db: Store,
  { accountId, id }: RunKey,
): Promise<{ readonly plan: unknown; readonly length: number } | undefined> {
  const rows = await db.query<{ plan: unknown; length: number }>(
    `select plan, length(plan::text) as length from executions where account_id = $1 and id = $2`,
    [accountId, id],
  );
  return rows[0];
}

/** The nodes that changed after a revision; all of them after 0. */
export async function findNodes(
  db: Store,
  { accountId, id }: RunKey,
  after: number,
): Promise<Map<InstanceId, NodeState>> {
  const rows = await db.query<NodeRow>(
    `select ${NODE_COLUMNS} from execution_nodes n where n.account_id = $1 and n.execution_id = $2 and n.revision > $3`,
    [accountId, id, after],
  );
  return nodesOfRows(rows);
}

/**
 * These nodes, as far as there are rows. The ids say which execution they are of: with a condition on it, a plan without
 * statistics reads all nodes of the execution.
 */
export async function findNodesById(
  db: Store,
  accountId: Uuid,
  ids: readonly InstanceId[],
): Promise<Map<InstanceId, NodeState>> {
  const rows = await db.query<NodeRow>(
    `select ${NODE_COLUMNS} from execution_nodes n where n.account_id = $1 and n.id = any($2::uuid[])`,
    [accountId, ids],
  );
  return nodesOfRows(rows);
}

export type Saved = {
  readonly state: State;
  /** That of the state; one more than before. */
  readonly revision: number;
  readonly recent: readonly RecentChange[];
  readonly nodes: readonly NodeChange[];
  readonly timers: TimerChanges;
  /** For lists, as JSON; undefined if they show the same as before. */
  readonly stageStates: string | undefined;
};

/**
 * A transition in one statement: the header, the nodes that changed, the timers that start and stop. Final states are
 * sinks: the condition holds even if the engine were wrong.
 */
export async function saveTransition(db: Store, { accountId, id }: RunKey, saved: Saved): Promise<void> {
  const { state, revision, recent, nodes, timers, stageStates } = saved;
  const rows = await db.query(
    `with stopped as (${deleteTimers(12)}),
     started as (${insertTimers(14)}),
     nodes as (${upsertNodes("$10", "$5")})
     update executions set status = $3, header = $4, revision = $5, started_at = $6, ended_at = $7, failure = $8,
            stage_states = coalesce($9::json, stage_states), recent = $11, format = ${FORMAT},
            changed_xid = case when $9::json is null then changed_xid else pg_current_xact_id() end
      where account_id = $1 and id = $2 and revision = $5 - 1 and status not in ${FINAL_STATUSES}
     returning id`,
    [
      accountId,
      id,
      state.status,
      JSON.stringify(state),
      revision,
      state.startedAt,
      state.endedAt,
      failureText(state),
      stageStates ?? null,
      jsonOfNodes(nodes),
      JSON.stringify(recent),
      ...timerValues(timers),
    ],
  );
  if (rows.length === 0) throw new Error(`execution ${id} has ended, or another event has changed it`);
}

export const failureText = ({ failure }: State): string | null => failure && storable(failure.message);

export type StoredRun = StoredExecution & { readonly revision: number };

/** All that is stored of an execution. Lock it first. */
export async function findStored(db: Store, { accountId, id }: RunKey): Promise<StoredRun | undefined> {
  const rows = await db.query<StoredRun>(
    `select e.format, e.revision, e.plan, e.header, e.status, e.started_at as "startedAt", e.ended_at as "endedAt",
            ${NODES_AS_JSON} as nodes
       from executions e where e.account_id = $1 and e.id = $2`,
    [accountId, id],
  );
  return rows[0];
}

/** Ends an execution whatever its state was, unless it has ended, and takes all its timers away. Its plan may be damaged. */
export async function endErrored(
  db: Store,
  { accountId, id }: RunKey,
  ended: { readonly state: State; readonly revision: number; readonly nodes: readonly NodeChange[] },
): Promise<void> {
  const { state, revision, nodes } = ended;
  await db.query(
    `with stopped as (delete from execution_timers where account_id = $1 and execution_id = $2),
     nodes as (${upsertNodes("$8", "$7")})
     update executions set status = $3, header = $4, ended_at = $5, failure = $6, revision = $7, stage_states = null,
            recent = null, format = ${FORMAT}, changed_xid = pg_current_xact_id()
      where account_id = $1 and id = $2 and status not in ${FINAL_STATUSES}`,
    [
      accountId,
      id,
      state.status,
      JSON.stringify(state),
      state.endedAt,
      failureText(state),
      revision,
      jsonOfNodes(nodes),
    ],
  );
}
