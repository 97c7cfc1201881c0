/** Executions that wait for their start because of a limit, and those that count towards it. */
import type { Uuid } from "../../core/ids.ts";
import { ACTIVE_STATUSES, type NodeState } from "../../engine/index.ts";
import type { Principal } from "../../pipelines/index.ts";
import type { Store } from "../../platform/db/db.ts";

/** What the first event gets beside its time. */
export type StartEvent = { readonly reused?: readonly NodeState[] };

export async function saveStartEvent(db: Store, accountId: Uuid, id: Uuid, event: StartEvent): Promise<void> {
  await db.query(`update executions set start_event = $3 where account_id = $1 and id = $2`, [
    accountId,
    id,
    JSON.stringify(event),
  ]);
}

export async function takeStartEvent(db: Store, accountId: Uuid, id: Uuid): Promise<StartEvent> {
  const rows = await db.query<{ event: StartEvent | null }>(
    `update executions e set start_event = null from executions b
      where e.account_id = $1 and e.id = $2 and b.account_id = $1 and b.id = $2 and b.start_event is not null
     returning b.start_event as event`,
    [accountId, id],
  );
  return rows[0]?.event ?? {};
}

/** Until the transaction ends, no other one starts queued executions of the account. */
export async function lockQueue(db: Store, accountId: Uuid): Promise<void> {
  const text = `select pg_advisory_xact_lock(hashtextextended('railhead.start-queue ' || $1::text, 0))`;
  await db.query(text, [accountId]);
}

export type Queued = {
  readonly id: Uuid;
  readonly projectId: Uuid;
  readonly pipelineId: Uuid;
  readonly orgIdentifier: string;
  readonly projectIdentifier: string;
};

/** The first of each pipeline, the oldest before the others. Leaves out executions of a later format. */
export const findFirstQueued = (db: Store, accountId: Uuid, format: number): Promise<Queued[]> =>
  db.query<Queued>(
    `with first as (
       select distinct on (pipeline_id) id, project_id, pipeline_id, begun_at from executions
        where account_id = $1 and status = 'queued' and format <= $2 order by pipeline_id, begun_at, id)
     select f.id, f.project_id as "projectId", f.pipeline_id as "pipelineId", p.org_identifier as "orgIdentifier",
            p.identifier as "projectIdentifier"
       from first f join projects p on p.account_id = $1 and p.id = f.project_id order by f.begun_at, f.id`,
    [accountId, format],
  );

/** What decides whether a queued execution may begin. */
export type QueuedFacts = {
  readonly principals: readonly Principal[];
  readonly pipelineIdentifier: string;
  readonly isPipelineDeleted: boolean;
};

export async function findQueuedFacts(db: Store, accountId: Uuid, id: Uuid): Promise<QueuedFacts> {
  const [facts] = await db.query<QueuedFacts>(
    `select e.principals, p.identifier as "pipelineIdentifier", p.deleted_at is not null as "isPipelineDeleted"
       from executions e join pipelines p on p.account_id = e.account_id and p.id = e.pipeline_id
      where e.account_id = $1 and e.id = $2`,
    [accountId, id],
  );
  if (!facts) throw new Error(`there is no execution ${id}`);
  return facts;
}

export type Active = { readonly projectId: Uuid; readonly pipelineId: Uuid; readonly count: number };

/** Executions that have begun and have not ended, by pipeline. */
export const countActive = (db: Store, accountId: Uuid): Promise<Active[]> =>
  db.query<Active>(
    `select project_id as "projectId", pipeline_id as "pipelineId", count(*)::integer as count from executions
      where account_id = $1 and status = any($2::text[]) group by project_id, pipeline_id`,
    [accountId, ACTIVE_STATUSES],
  );

/** Each account is one look into an index; the condition alone would read all executions. */
export async function accountsWithQueued(db: Store): Promise<Uuid[]> {
  const rows = await db.query<{ accountId: Uuid }>(
    `select s.account_id as "accountId" from (select distinct account_id from execution_sequences) s
      where exists (select 1 from executions e where e.account_id = s.account_id and e.status = 'queued')`,
  );
  return rows.map(({ accountId }) => accountId);
}

/** Queued executions up to one: of its account, its project and its pipeline. */
export async function findPositions(
  db: Store,
  accountId: Uuid,
  id: Uuid,
): Promise<{ readonly account: number; readonly project: number; readonly pipeline: number } | undefined> {
  const rows = await db.query<{ account: number; project: number; pipeline: number }>(
    `select count(*)::integer as account,
            (count(*) filter (where q.project_id = e.project_id))::integer as project,
            (count(*) filter (where q.pipeline_id = e.pipeline_id))::integer as pipeline
       from executions e join executions q on q.account_id = e.account_id and q.status = 'queued'
        and (q.begun_at, q.id) <= (e.begun_at, e.id)
      where e.account_id = $1 and e.id = $2 and e.status = 'queued'`,
    [accountId, id],
  );
  return rows[0];
}
