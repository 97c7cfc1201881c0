/** Approvals that wait in all executions of an account, and what they belong to. */
import { within, type Reach } from "../../access/index.ts";
import type { Uuid } from "../../core/ids.ts";
import type { Store } from "../../platform/db/db.ts";
import { UNPREPARED } from "../../platform/db/pool/statements.ts";
import type { Approval, ApprovalOrigin } from "../approval.ts";
import { APPROVAL_COLUMNS } from "./approvals.ts";

export type WaitingRow = Approval &
  ApprovalOrigin & {
    readonly startedBy: Uuid | null;
    /** The owner of the trigger that started the execution. */
    readonly owner: Uuid | null;
  };

export type WaitingFilter = {
  readonly reach: "all" | readonly Reach[];
  readonly orgIdentifier?: string | undefined;
  readonly projectId?: Uuid | undefined;
  readonly after: Uuid | undefined;
};

/** The oldest first. Reads the index of what waits, which is small, and of each its execution. */
export const listWaitingRows = (
  db: Store,
  accountId: Uuid,
  { reach, orgIdentifier, projectId, after }: WaitingFilter,
  limit: number,
): Promise<WaitingRow[]> =>
  db.query<WaitingRow>(
    `${UNPREPARED}select ${APPROVAL_COLUMNS("w")}, a.org_identifier as "orgIdentifier", a.identifier as "projectIdentifier",
            a.id as "applicationId", p.identifier as "pipelineIdentifier", p.name as "pipelineName",
            e.run_sequence as "runSequence", e.triggered_by as "triggeredBy", e.started_by as "startedBy",
            (e.principals #>> '{0,author,id}')::uuid as owner
       from approval_instances w
       join executions e on e.account_id = w.account_id and e.id = w.execution_id
       join projects a on a.account_id = w.account_id and a.id = e.project_id
       join pipelines p on p.account_id = w.account_id and p.id = e.pipeline_id
      where w.account_id = $1 and w.status = 'WAITING' and ($2::uuid is null or w.id > $2)
        and ($3::text is null or a.org_identifier = $3) and ($4::uuid is null or a.id = $4)
        and ${reach === "all" ? "$5::jsonb is null" : within("$5", { org: "a.org_identifier", project: "a.identifier", identifier: "p.identifier" })}
      order by w.id limit $6`,
    [
      accountId,
      after ?? null,
      orgIdentifier ?? null,
      projectId ?? null,
      reach === "all" ? null : JSON.stringify(reach),
      limit,
    ],
  );

/** The definition of a waiting step, out of the plan of its execution; null if the plan is damaged. */
export type WaitingStep = {
  readonly id: Uuid;
  readonly name: string | null;
  readonly path: readonly string[] | null;
  readonly stageNames: Readonly<Record<string, string>>;
};

/** Of these approvals. A plan is large: ask for a page at once. */
export const findWaitingSteps = (db: Store, accountId: Uuid, ids: readonly Uuid[]): Promise<WaitingStep[]> =>
  db.query<WaitingStep>(
    `select w.id, node ->> 'name' as name, node -> 'path' as path,
            coalesce((select json_object_agg(stage ->> 1, stage ->> 2) from json_array_elements(e.stages) stage), '{}') as "stageNames"
       from approval_instances w
       join executions e on e.account_id = w.account_id and e.id = w.execution_id
       left join execution_nodes n on n.account_id = w.account_id and n.id = w.node_id
       cross join lateral (select e.plan #> array['nodes', n.definition_id::text] as node) definition
      where w.account_id = $1 and w.id = any($2::uuid[])`,
    [accountId, ids],
  );
