/** The history of a project, on its way out. */
import type { Uuid } from "../../core/ids.ts";
import type { Query } from "../../platform/db/db.ts";
import { FINAL_STATUSES } from "./final-statuses.ts";

type Store = { readonly query: Query };

/** An execution of the project that has not ended. */
export async function findUnfinished(db: Store, accountId: Uuid, projectId: Uuid): Promise<Uuid | undefined> {
  const rows = await db.query<{ id: Uuid }>(
    `select id from executions where account_id = $1 and project_id = $2
        and status not in ${FINAL_STATUSES}
      order by id desc limit 1`,
    [accountId, projectId],
  );
  return rows[0]?.id;
}

export async function someExecutions(db: Store, accountId: Uuid, projectId: Uuid, limit: number): Promise<Uuid[]> {
  const rows = await db.query<{ id: Uuid }>(
    `select id from executions where account_id = $1 and project_id = $2 order by id limit $3`,
    [accountId, projectId, limit],
  );
  return rows.map(({ id }) => id);
}

/** The executions with all that hangs on them. One statement for each table: a child has to be gone before its parent. */
export async function deleteExecutions(db: Store, accountId: Uuid, ids: readonly Uuid[]): Promise<void> {
  const values = [accountId, ids];
  await db.query(`delete from log_chunks where account_id = $1 and execution_id = any($2)`, values);
  await db.query(`delete from log_streams where account_id = $1 and execution_id = any($2)`, values);
  await db.query(`delete from execution_timers where account_id = $1 and execution_id = any($2)`, values);
  await db.query(`delete from execution_nodes where account_id = $1 and execution_id = any($2)`, values);
  await db.query(`delete from execution_marks where account_id = $1 and execution_id = any($2)`, values);
  await db.query(`delete from executions where account_id = $1 and id = any($2)`, values);
}

/** The run numbers of the project's pipelines. */
export async function deleteSequences(db: Store, accountId: Uuid, projectId: Uuid): Promise<void> {
  await db.query(
    `delete from execution_sequences s using pipelines p
      where p.account_id = $1 and p.project_id = $2 and s.account_id = p.account_id and s.pipeline_id = p.id`,
    [accountId, projectId],
  );
}
