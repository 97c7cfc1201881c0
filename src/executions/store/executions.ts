import { FORMAT, type Plan, type State, type Status } from "../../engine/index.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Principal } from "../../pipelines/index.ts";
import type { Query } from "../../platform/db/db.ts";
import type { RetryOf } from "../started.ts";
import type { RerunInfo, TriggeredBy, TriggerType } from "../execution.ts";
import { marksOf, tagsOf } from "../marks.ts";
import { markSetOf } from "./names/mark-sets.ts";
import { lastNodeOf, packStages, stagesOf, storedStates } from "../stage.ts";
import { failureText } from "./advance.ts";
import { jsonOfNodes, type NodeChange } from "../node-rows.ts";
import { upsertNodes } from "./node-rows.ts";

type Store = { readonly query: Query };

/** The next run number of a pipeline. Locks the counter until the transaction ends, so that numbers follow the commits. */
export async function nextSequence(db: Store, accountId: Uuid, pipelineId: Uuid): Promise<number> {
  const rows = await db.query<{ last: number }>(
    `insert into execution_sequences (account_id, pipeline_id, last) values ($1, $2, 1)
     on conflict (account_id, pipeline_id) do update set last = execution_sequences.last + 1 returning last`,
    [accountId, pipelineId],
  );
  return rows[0]?.last ?? 1;
}

/** The execution of a pipeline with this run number. A deleted pipeline may have had the identifier too: the newest. */
export async function findBySequence(
  db: Store,
  accountId: Uuid,
  at: {
    readonly orgIdentifier: string;
    readonly projectIdentifier: string;
    readonly pipelineIdentifier: string;
    readonly runSequence: number;
  },
): Promise<Uuid | undefined> {
  const rows = await db.query<{ id: Uuid }>(
    `select e.id from projects a
       join pipelines p on p.account_id = a.account_id and p.project_id = a.id and p.identifier = $4
       join executions e on e.account_id = p.account_id and e.pipeline_id = p.id and e.run_sequence = $5
      where a.account_id = $1 and a.org_identifier = $2 and a.identifier = $3
      order by p.deleted_at is not null, e.id desc limit 1`,
    [accountId, at.orgIdentifier, at.projectIdentifier, at.pipelineIdentifier, at.runSequence],
  );
  return rows[0]?.id;
}

export type NewExecution = {
  readonly accountId: Uuid;
  readonly id: Uuid;
  readonly projectId: Uuid;
  readonly pipelineId: Uuid;
  readonly pipelineVersion: number;
  readonly runSequence: number;
  readonly plan: Plan;
  readonly state: State;
  /** The nodes that the first event has reached. */
  readonly nodes: readonly NodeChange[];
  readonly triggerType: TriggerType;
  readonly triggeredBy: TriggeredBy;
  readonly startedBy: Uuid | null;
  readonly inputYaml: string | null;
  readonly notes: string | null;
  readonly rerunInfo: RerunInfo | null;
  readonly retryOf?: RetryOf | undefined;
  readonly allowStageExecutions: boolean;
  readonly selectedStages: readonly string[] | null;
  readonly expressionValues: Readonly<Record<string, string>> | undefined;
  readonly principals: readonly Principal[];
  readonly createdAt: number;
};

/** What the first event brings an execution to. */
const FIRST_REVISION = 1;

/** The run and what it can be found by, in one statement. Answers the length of its plan as JSON. */
export async function insertExecution(db: Store, e: NewExecution): Promise<number> {
  const marks = marksOf(e.plan);
  const markSet = markSetOf(marks);
  const plan = JSON.stringify(e.plan);
  const nodes = new Map(e.nodes.map(({ node }) => [node.id, node]));
  await db.query(
    `with run as (
       insert into executions (account_id, id, project_id, pipeline_id, pipeline_version, run_sequence, status, plan, header,
                               trigger_type, triggered_by, input_yaml, created_at, started_at, ended_at,
                               started_by, notes, tags, failure, rerun_info, principals,
                               stages, stage_states, last_node_id, mark_set_id, format, revision,
                               retry_root_id, retry_parent_id, allow_stage_executions, selected_stages, expression_values,
                               changed_xid)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $24, $25, $26, $27, $28,
               $31, $32, $34, $35, $36, $37, $38, pg_current_xact_id())),
     nodes as (${upsertNodes("$33", "$32")}),
     mark_set as (
       insert into execution_mark_sets (account_id, project_id, id, services, environments) values ($1, $3, $28, $29, $30)
       on conflict do nothing)
     insert into execution_marks (account_id, kind, name, value, execution_id)
     select $1, s.kind, s.name, s.value, $2 from unnest($21::text[], $22::text[], $23::text[]) as s (kind, name, value)`,
    [
      e.accountId,
      e.id,
      e.projectId,
      e.pipelineId,
      e.pipelineVersion,
      e.runSequence,
      e.state.status,
      plan,
      JSON.stringify(e.state),
      e.triggerType,
      JSON.stringify(e.triggeredBy),
      e.inputYaml,
      e.createdAt,
      e.state.startedAt,
      e.state.endedAt,
      e.startedBy,
      e.notes,
      JSON.stringify(tagsOf(e.plan)),
      failureText(e.state),
      e.rerunInfo && JSON.stringify(e.rerunInfo),
      marks.map(({ kind }) => kind),
      marks.map(({ name }) => name),
      marks.map(({ value }) => value),
      JSON.stringify(e.principals),
      JSON.stringify(packStages(stagesOf(e.plan))),
      storedStates(e.state, { get: (id) => nodes.get(id) }, e.plan),
      lastNodeOf(e.plan),
      markSet.id,
      markSet.services,
      markSet.environments,
      FORMAT,
      FIRST_REVISION,
      jsonOfNodes(e.nodes),
      e.retryOf?.rootId ?? null,
      e.retryOf?.parentId ?? null,
      e.allowStageExecutions,
      e.selectedStages,
      e.expressionValues && JSON.stringify(e.expressionValues),
    ],
  );
  return plan.length;
}

export async function findStatus(db: Store, accountId: Uuid, id: Uuid): Promise<Status | undefined> {
  const rows = await db.query<{ status: Status }>(`select status from executions where account_id = $1 and id = $2`, [
    accountId,
    id,
  ]);
  return rows[0]?.status;
}
