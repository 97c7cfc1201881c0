/** Executions as they are read: one by its id, and pages of them, newest first. */
import type { Uuid } from "../../core/ids.ts";
import type { Principal } from "../../pipelines/index.ts";
import type { Query, QueryTuples } from "../../platform/db/db.ts";
import { UNPREPARED } from "../../platform/db/pool/statements.ts";
import type { Status } from "../../engine/index.ts";
import type { Execution, ExecutionMore, ExecutionOutline, ListedExecution } from "../execution.ts";
import { type ExecutionFilter, whereOf } from "./conditions.ts";
import { NODES_AS_JSON } from "./node-rows.ts";
import type { StoredExecution } from "../stored.ts";

type Store = { readonly query: Query };

const EXECUTION = `e.id, e.status, e.created_at as "createdAt", e.started_at as "startedAt", e.ended_at as "endedAt",
  a.id as "applicationId", a.name as "applicationName", p.id as "pipelineId", p.name as "pipelineName"`;

const MORE = `e.notes, e.failure, e.tags, e.trigger_type as "triggerType", e.triggered_by as "triggeredBy",
  e.started_by as "startedBy"`;

export const LISTED = `${EXECUTION}, ${MORE}, a.org_identifier as "orgIdentifier", a.identifier as "projectIdentifier",
  p.identifier as "pipelineIdentifier", e.pipeline_version as "pipelineVersion", e.run_sequence as "runSequence",
  e.rerun_info as "rerunInfo", e.retry_root_id as "retryRootId", e.retry_parent_id as "retryParentId",
  e.retried_by_id as "retriedById", e.selected_stages as "selectedStages",
  e.allow_stage_executions as "allowStageExecutions"`;

const OUTLINE = `e.id, e.status, e.begun_at as "begunAt", e.started_at as "startedAt", e.ended_at as "endedAt",
  p.identifier as "pipelineIdentifier", p.name as "pipelineName", e.run_sequence as "runSequence"`;

export const NAMES = `join projects a on a.account_id = e.account_id and a.id = e.project_id
  join pipelines p on p.account_id = e.account_id and p.id = e.pipeline_id`;

const ORDER = "order by e.begun_at desc, e.id desc";

const COLUMNS = { brief: EXECUTION, more: `${EXECUTION}, ${MORE}`, listed: LISTED, outline: OUTLINE } as const;

export type Window = { readonly limit: number; readonly offset: number };

/**
 * As numbers in the text, so that PostgreSQL keeps the statement's plan: of a parameter it expects a tenth of all rows,
 * finds such a plan dear, and plans anew each time, which takes five times as long as a short page (decision 0016).
 */
const USUAL_LIMITS: ReadonlySet<number> = new Set([1, 10, 20, 25, 50, 100, 1000]);

/**
 * The list statement as text and values, so that the benchmark's bare server can send the very same one. The page
 * is cut before the names are joined: asked for all at once, PostgreSQL has gone through the executions of each
 * project in turn and sorted thousands of rows for a hundred. A filter that may match little finds the page by ids: the
 * index `executions_by_begin` has all that it compares, so that no other execution is read.
 */
export function listStatement(
  accountId: Uuid,
  filter: ExecutionFilter,
  { limit, offset }: Window,
  columns: keyof typeof COLUMNS = "brief",
): { text: string; values: unknown[] } {
  const { where, values, frequent, steady } = whereOf(accountId, filter);
  const page =
    steady && offset === 0 && USUAL_LIMITS.has(limit)
      ? `limit ${limit}`
      : `limit $${values.push(limit)} offset $${values.push(offset)}`;
  const filtered = (selected: string): string => `select ${selected} from executions e where ${where} ${ORDER} ${page}`;
  const text = frequent
    ? `select ${COLUMNS[columns]} from (${filtered("e.*")}) e ${NAMES} ${ORDER}`
    : `select ${COLUMNS[columns]} from (${filtered("e.account_id, e.id, e.begun_at")}) page
         join executions e on e.account_id = page.account_id and e.id = page.id ${NAMES}
        order by page.begun_at desc, page.id desc`;
  return { text: frequent ? text : UNPREPARED + text, values };
}

const rowsOf =
  <Row extends object>(columns: keyof typeof COLUMNS) =>
  async (db: Store, accountId: Uuid, filter: ExecutionFilter, window: Window): Promise<Row[]> => {
    const { text, values } = listStatement(accountId, filter, window, columns);
    return db.query<Row>(text, values);
  };

/** The list that clients ask for again and again. */
export async function listExecutions(
  db: { readonly tuples: QueryTuples },
  accountId: Uuid,
  filter: ExecutionFilter,
  window: Window,
): Promise<Execution[]> {
  const { text, values } = listStatement(accountId, filter, window);
  return (await db.tuples<ExecutionTuple>(text, values)).map(executionOf);
}

/** The columns of `EXECUTION`, in their order. */
type ExecutionTuple = readonly [
  ...(readonly [id: Uuid, status: Status, createdAt: number, startedAt: number | null, endedAt: number | null]),
  ...(readonly [applicationId: Uuid, applicationName: string, pipelineId: Uuid, pipelineName: string]),
];

const executionOf = (row: ExecutionTuple): Execution => ({
  id: row[0],
  status: row[1],
  createdAt: row[2],
  startedAt: row[3],
  endedAt: row[4],
  applicationId: row[5],
  applicationName: row[6],
  pipelineId: row[7],
  pipelineName: row[8],
});

/** With what a brief list leaves out. */
export const listMore = rowsOf<Execution & ExecutionMore>("more");
export const listListed = rowsOf<ListedExecution>("listed");
export const listOutlines = rowsOf<ExecutionOutline>("outline");

/** Beyond it nobody pages, and counting would take longer than the page. */
export const COUNTED_AT_MOST = 1_000_000;

/** How many match, counted up to `most`. */
export async function countExecutions(
  db: Store,
  accountId: Uuid,
  filter: ExecutionFilter,
  most = COUNTED_AT_MOST,
): Promise<number> {
  if (most === 0) return 0;
  const { where, values, frequent } = whereOf(accountId, filter);
  // A number in the text keeps the statement's plan; for others the planner has to see it.
  const isUsual = frequent && most === COUNTED_AT_MOST;
  const limit = isUsual ? most : `$${values.push(most)}`;
  const text = `select count(*) as total from (select 1 from executions e where ${where} limit ${limit}) counted`;
  const rows = await db.query<{ total: number }>(isUsual ? text : UNPREPARED + text, values);
  return rows[0]?.total ?? 0;
}

/** With its plan, its state and its nodes, all of one moment. */
export async function findExecution(
  db: Store,
  accountId: Uuid,
  id: Uuid,
): Promise<(ListedExecution & StoredExecution) | undefined> {
  const rows = await db.query<ListedExecution & StoredExecution>(
    `select ${LISTED}, e.format, e.plan, e.header, ${NODES_AS_JSON} as nodes from executions e ${NAMES} where e.account_id = $1 and e.id = $2`,
    [accountId, id],
  );
  return rows[0];
}

export async function findListed(db: Store, accountId: Uuid, id: Uuid): Promise<ListedExecution | undefined> {
  const rows = await db.query<ListedExecution>(
    `select ${LISTED} from executions e ${NAMES} where e.account_id = $1 and e.id = $2`,
    [accountId, id],
  );
  return rows[0];
}

type RunInputs = {
  readonly inputYaml: string | null;
  readonly pipelineYaml: string;
  readonly principals: readonly Principal[];
  readonly expressionValues: Readonly<Record<string, string>> | null;
};

/** The inputs that a run was given, the document it was made of, and whom it acts for. */
export async function findInputs(db: Store, accountId: Uuid, id: Uuid): Promise<RunInputs | undefined> {
  const rows = await db.query<RunInputs>(
    `select e.input_yaml as "inputYaml", v.yaml as "pipelineYaml", e.principals,
            e.expression_values as "expressionValues" from executions e
       join pipeline_versions v
         on v.account_id = e.account_id and v.pipeline_id = e.pipeline_id and v.version = e.pipeline_version
      where e.account_id = $1 and e.id = $2`,
    [accountId, id],
  );
  return rows[0];
}

/** The identifiers that a run is started by. */
export async function findPipelinePath(
  db: Store,
  accountId: Uuid,
  projectId: Uuid,
  pipelineId: Uuid,
): Promise<{ orgIdentifier: string; projectIdentifier: string; identifier: string } | undefined> {
  const rows = await db.query<{ orgIdentifier: string; projectIdentifier: string; identifier: string }>(
    `select a.org_identifier as "orgIdentifier", a.identifier as "projectIdentifier", p.identifier
       from pipelines p join projects a on a.account_id = p.account_id and a.id = p.project_id
      where p.account_id = $1 and p.project_id = $2 and p.id = $3 and p.deleted_at is null`,
    [accountId, projectId, pipelineId],
  );
  return rows[0];
}
