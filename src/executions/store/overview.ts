/** Executions of all projects by their statuses, and why they wait. */
import type { Reason, Status } from "../../engine/index.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Query } from "../../platform/db/db.ts";
import { UNPREPARED } from "../../platform/db/pool/statements.ts";
import type { ListedExecution } from "../execution.ts";
import { whereOf, type ExecutionFilter } from "./conditions.ts";
import { LISTED, NAMES } from "./lists.ts";

type Db = { readonly query: Query };

export type OverviewRow = ListedExecution & { readonly projectName: string };

/**
 * The newest executions with one of the statuses that meet the conditions, among the newest `among` of each status. The
 * planner sees each status, so that it reads a rare one by the index of statuses, however many others there are.
 */
export async function listByStatus(
  db: Db,
  accountId: Uuid,
  { statuses, conditions }: { readonly statuses: readonly Status[]; readonly conditions: ExecutionFilter },
  { limit, among }: { readonly limit: number; readonly among: number },
): Promise<OverviewRow[]> {
  const { where, values } = whereOf(accountId, conditions);
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  const most = parameter(among);
  const newest = statuses.map(
    (status) => `(select e.account_id, e.id, e.begun_at, e.project_id, e.pipeline_id from executions e
        where e.account_id = $1 and e.status = ${parameter(status)} order by e.begun_at desc, e.id desc limit ${most})`,
  );
  return db.query<OverviewRow>(
    `${UNPREPARED}select ${LISTED}, a.name as "projectName" from (
       select e.* from (${newest.join(" union all ")}) e
        where ${where} order by e.begun_at desc, e.id desc limit ${parameter(limit)}) page
       join executions e on e.account_id = page.account_id and e.id = page.id ${NAMES}
      order by page.begun_at desc, page.id desc`,
    values,
  );
}

export type WaitingNode = { readonly executionId: Uuid; readonly reason: Reason; readonly startedAt: number | null };

/** The nodes of executions that wait for something, the first ones before the others. */
export const listWaitingNodes = (db: Db, accountId: Uuid, executions: readonly Uuid[]): Promise<WaitingNode[]> =>
  db.query<WaitingNode>(
    `select n.execution_id as "executionId", n.reason, n.started_at as "startedAt" from execution_nodes n
      where n.account_id = $1 and n.execution_id = any($2::uuid[]) and n.ended_at is null and n.reason is not null
      order by n.started_at, n.id`,
    [accountId, executions],
  );
