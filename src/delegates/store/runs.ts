/** The tasks of whole runs. */
import type { Uuid } from "../../core/ids.ts";
import type { Store } from "../../platform/db/db.ts";
import type { NodesOfRun } from "./waiting.ts";

/** The delegate of each attempt. */
export async function delegatesOf(
  db: Store,
  { accountId, runId, nodes }: NodesOfRun,
): Promise<{ nodeId: Uuid; attempt: number; taskId: Uuid; delegateId: Uuid; name: string }[]> {
  return db.query(
    `select t.node_id as "nodeId", t.attempt, t.id as "taskId", d.id as "delegateId", d.name
       from tasks t join delegates d on d.account_id = t.account_id and d.id = t.delegate_id
      where t.account_id = $1 and t.run_id = $2${nodes ? " and t.node_id = any($3)" : ""}`,
    nodes ? [accountId, runId, nodes] : [accountId, runId],
  );
}

/** Filters the runs that have an unfinished task. */
export async function openRuns(db: Store, accountId: Uuid, runIds: readonly Uuid[]): Promise<readonly Uuid[]> {
  const rows = await db.query<{ runId: Uuid }>(
    `select distinct run_id as "runId" from tasks where account_id = $1 and run_id = any($2) and status <> 'finished'`,
    [accountId, runIds],
  );
  return rows.map(({ runId }) => runId);
}

export async function anyUnfinished(db: Store, accountId: Uuid, runIds: readonly Uuid[]): Promise<boolean> {
  const rows = await db.query(
    `select 1 from tasks where account_id = $1 and run_id = any($2) and status <> 'finished' limit 1`,
    [accountId, runIds],
  );
  return rows.length > 0;
}

export async function deleteTasks(db: Store, accountId: Uuid, runIds: readonly Uuid[]): Promise<void> {
  await db.query(`delete from tasks where account_id = $1 and run_id = any($2)`, [accountId, runIds]);
}
