/** Deployments: written with the events of their executions, listed by what is deployed where. */
import type { Uuid } from "../../core/ids.ts";
import type { Query, Store } from "../../platform/db/db.ts";
import { UNPREPARED } from "../../platform/db/pool/statements.ts";
import type { Deployment, DeploymentChange, DeploymentCursor, Target } from "../deployments/deployment.ts";
import type { RunKey } from "./advance.ts";
import { whereOf, type ExecutionFilter } from "./conditions.ts";

/** Deployments that begin or go on, in the transaction that saves the nodes of their stages. */
export async function saveDeployments(
  db: Store,
  { accountId, id }: RunKey,
  changes: readonly DeploymentChange[],
): Promise<void> {
  if (changes.length === 0) return;
  await db.query(
    `insert into deployments as d (account_id, id, project_id, execution_id, pipeline_id, run_sequence, trigger_type, triggered_by,
                                   service, environment, version, commit_id, committed_at, status, started_at, ended_at)
     select e.account_id, s.id, e.project_id, e.id, e.pipeline_id, e.run_sequence, e.trigger_type, e.triggered_by,
            s.service, s.environment, s.version, s."commitId", s."committedAt", s.status, s."startedAt", s."endedAt"
       from json_to_recordset($3::json) as s (id uuid, service text, environment text, version text, "commitId" text,
              "committedAt" bigint, status text, "startedAt" bigint, "endedAt" bigint)
       join executions e on e.account_id = $1 and e.id = $2
     on conflict (account_id, id) do update
       set status = excluded.status, ended_at = excluded.ended_at, version = coalesce(excluded.version, d.version)`,
    [accountId, id, JSON.stringify(changes)],
  );
}

/** Ends the deployments of an execution that cannot be advanced. */
export async function endDeployments(
  db: Store,
  { accountId, id }: RunKey,
  { status, endedAt }: Pick<DeploymentChange, "status" | "endedAt">,
): Promise<void> {
  await db.query(
    `update deployments set status = $3, ended_at = $4 where account_id = $1 and execution_id = $2 and ended_at is null`,
    [accountId, id, status, endedAt],
  );
}

/** Deletes those of the executions, all but the version that runs at each target. */
export async function deleteSupersededDeployments(
  db: Store,
  accountId: Uuid,
  executions: readonly Uuid[],
): Promise<void> {
  await db.query(
    `delete from deployments d where d.account_id = $1 and d.execution_id = any($2)
        and (d.status not in ${SUCCESSES} or exists (
          select from deployments n where n.account_id = $1 and n.project_id = d.project_id
             and n.environment = d.environment and n.service = d.service
             and (n.started_at, n.id) > (d.started_at, d.id) and n.status in ${SUCCESSES}))`,
    [accountId, executions],
  );
}

export async function deleteDeployments(db: Store, accountId: Uuid, projectId: Uuid): Promise<void> {
  await db.query(`delete from deployments where account_id = $1 and project_id = $2`, [accountId, projectId]);
}

/** Statuses of a stage that has deployed its service. */
export const SUCCESSES = `('succeeded', 'ignored')`;

const DEPLOYMENT = `e.id, e.execution_id as "executionId", e.service, e.environment, e.version, e.commit_id as "commitId",
  e.committed_at as "committedAt", e.status, e.started_at as "startedAt", e.ended_at as "endedAt",
  e.run_sequence as "runSequence", e.trigger_type as "triggerType", e.triggered_by as "triggeredBy",
  p.identifier as "pipelineIdentifier", p.name as "pipelineName",
  not exists (select from executions x where x.account_id = e.account_id and x.id = e.execution_id) as "isExecutionDeleted"`;
const PIPELINE = `join pipelines p on p.account_id = e.account_id and p.id = e.pipeline_id`;

/** `conditions`: on the columns that deployments and executions have in common. */
export type DeploymentFilter = {
  readonly conditions: ExecutionFilter;
  readonly projectId: Uuid;
  readonly environment?: string | undefined;
  readonly service?: string | undefined;
};

/** The newest first. */
export async function listDeploymentRows(
  db: { readonly query: Query },
  accountId: Uuid,
  { conditions, projectId, environment, service }: DeploymentFilter,
  { beyond, limit }: { readonly beyond: DeploymentCursor | undefined; readonly limit: number },
): Promise<Deployment[]> {
  const { where, values } = whereOf(accountId, conditions);
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  const parts = [where, `e.project_id = ${parameter(projectId)}`];
  if (environment !== undefined) parts.push(`e.environment = ${parameter(environment)}`);
  if (service !== undefined) parts.push(`e.service = ${parameter(service)}`);
  if (beyond)
    parts.push(`(e.started_at, e.id) < (${parameter(beyond.startedAt)}::bigint, ${parameter(beyond.id)}::uuid)`);
  return db.query<Deployment>(
    `${UNPREPARED}select ${DEPLOYMENT} from (
       select e.* from deployments e where ${parts.join(" and ")}
        order by e.started_at desc, e.id desc limit ${parameter(limit)}) e ${PIPELINE}
      order by e.started_at desc, e.id desc`,
    values,
  );
}

/**
 * The targets of a project that come after one, in their order: one step of an index for each, however many deployments
 * they have. Few services are deployed to few environments.
 */
export async function listTargets(
  db: { readonly query: Query },
  accountId: Uuid,
  { projectId, environment, service }: Omit<DeploymentFilter, "conditions">,
  { after, limit }: { readonly after: Target | undefined; readonly limit: number },
): Promise<Target[]> {
  const next = (after_: string): string =>
    `select d.environment, d.service from deployments d where d.account_id = $1 and d.project_id = $2
        and (d.environment, d.service) > (${after_})
      order by d.environment, d.service limit 1`;
  return db.query<Target>(
    `${UNPREPARED}with recursive targets as (
       (${next("$5::text, $6::text")})
       union all
       select n.* from targets t cross join lateral (${next("t.environment, t.service")}) n
        where $3::text is null or t.environment = $3)
     select environment, service from targets
      where ($3::text is null or environment = $3) and ($4::text is null or service = $4) limit $7`,
    [accountId, projectId, environment ?? null, service ?? null, ...startOf(after, environment), limit],
  );
}

/** Targets of one environment begin with it. */
function startOf(after: Target | undefined, environment: string | undefined): readonly string[] {
  const isUsable = after && (environment === undefined || after.environment === environment);
  return isUsable ? [after.environment, after.service] : [environment ?? "", ""];
}

/** Of each target the last deployment, and the last one that succeeded, as far as the conditions are met. */
export async function findLastDeployments(
  db: { readonly query: Query },
  accountId: Uuid,
  { conditions, projectId }: Pick<DeploymentFilter, "conditions" | "projectId">,
  targets: readonly Target[],
): Promise<(Deployment & { readonly isLatest: boolean })[]> {
  const { where, values } = whereOf(accountId, conditions);
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  const [project, environments, services] = [
    parameter(projectId),
    parameter(targets.map(({ environment }) => environment)),
    parameter(targets.map(({ service }) => service)),
  ];
  const last = (condition: string): string =>
    `(select e.* from deployments e where ${where} and e.project_id = ${project} and e.environment = t.environment
         and e.service = t.service${condition} order by e.started_at desc, e.id desc limit 1)`;
  return db.query<Deployment & { readonly isLatest: boolean }>(
    `${UNPREPARED}select ${DEPLOYMENT}, e.is_latest as "isLatest"
       from unnest(${environments}::text[], ${services}::text[]) as t (environment, service)
       cross join lateral (
         select l.*, true as is_latest from ${last("")} l
         union all select r.*, false from ${last(` and e.status in ${SUCCESSES}`)} r) e ${PIPELINE}`,
    values,
  );
}
