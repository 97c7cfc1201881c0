/** Counts of deployments by day, and how long it took to restore what had failed. An index has all that is counted. */
import type { Uuid } from "../../core/ids.ts";
import type { Query } from "../../platform/db/db.ts";
import { UNPREPARED } from "../../platform/db/pool/statements.ts";
import { whereOf, type ExecutionFilter } from "./conditions.ts";
import { SUCCESSES } from "./deployments.ts";

type Db = { readonly query: Query };

/** Statuses of a deployment that has failed. One that was aborted or rejected tells nothing of the service. */
const FAILURES = `('failed', 'errored', 'expired')`;

export type MeasuredFilter = {
  readonly conditions: ExecutionFilter;
  readonly projectId: Uuid;
  readonly environments: readonly string[];
  readonly service?: string | undefined;
  /** Of the days, and the end of the last one. */
  readonly starts: readonly number[];
};

/** The deployments `d` that ended in the time, and the parameters of the statement. */
function endedIn(accountId: Uuid, { conditions, projectId, environments, service, starts }: MeasuredFilter) {
  const { where, values } = whereOf(accountId, conditions);
  const parameter = (value: unknown): string => `$${values.push(value)}`;
  const [project, from, to] = [parameter(projectId), parameter(starts[0] ?? 0), parameter(starts.at(-1) ?? 0)];
  const ended = `select e.environment, e.service, e.status in ${SUCCESSES} as ok, e.ended_at, e.committed_at, e.id
    from deployments e
   where ${where} and e.project_id = ${project} and e.ended_at >= ${from} and e.ended_at < ${to}
     and e.environment = any(${parameter(environments)}::text[])
     and (${parameter(service ?? null)}::text is null or e.service = $${values.length})
     and (e.status in ${SUCCESSES} or e.status in ${FAILURES})`;
  return { ended, where, values, parameter, project, from, to };
}

export type DayRow = { readonly day: number; readonly deployments: number; readonly failures: number };

/** By the day in which they ended, from 1. */
export async function countDeploymentsByDay(db: Db, accountId: Uuid, filter: MeasuredFilter): Promise<DayRow[]> {
  const { ended, values, parameter } = endedIn(accountId, filter);
  return db.query<DayRow>(
    `${UNPREPARED}select width_bucket(d.ended_at, ${parameter(filter.starts)}::bigint[]) as day,
            (count(*) filter (where d.ok))::int as deployments, (count(*) filter (where not d.ok))::int as failures
       from (${ended}) d group by 1`,
    values,
  );
}

export type LeadTimes = { readonly counted: number; readonly median: number | null };

/** From the commit to the end of each deployment that succeeded, where the commit's time is known. */
export async function findLeadTimes(db: Db, accountId: Uuid, filter: MeasuredFilter): Promise<LeadTimes> {
  const { ended, values } = endedIn(accountId, filter);
  const rows = await db.query<LeadTimes>(
    `${UNPREPARED}select count(*)::int as counted,
            percentile_disc(0.5) within group (order by d.ended_at - d.committed_at) as median
       from (${ended}) d where d.ok and d.committed_at <= d.ended_at`,
    values,
  );
  return rows[0] ?? { counted: 0, median: null };
}

export type Restorations = { readonly restored: number; readonly open: number; readonly median: number | null };

/**
 * From the first failed deployment at a target to the next one that succeeds there, of the failures that began in the
 * time. The deployments of a target that end between two successes have one number, so that one pass over the sorted
 * rows finds them; only what lies at the ends of the time is looked for by target.
 */
export async function findRestorations(db: Db, accountId: Uuid, filter: MeasuredFilter): Promise<Restorations> {
  const { ended, where, values, project, from, to } = endedIn(accountId, filter);
  const at = `${where} and e.project_id = ${project} and e.environment = g.environment and e.service = g.service`;
  const rows = await db.query<Restorations>(
    `${UNPREPARED}with numbered as (
       select d.*, coalesce(sum(d.ok::int) over (partition by d.environment, d.service order by d.ended_at, d.id
                                                 rows between unbounded preceding and 1 preceding), 0) as nth
         from (${ended}) d),
     grouped as (
       select n.environment, n.service, n.nth, min(n.ended_at) filter (where not n.ok) as failed_at,
              max(n.ended_at) filter (where n.ok) as restored_at
         from numbered n group by n.environment, n.service, n.nth),
     failures as (
       select g.failed_at, coalesce(g.restored_at, (
                select e.ended_at from deployments e
                 where ${at} and e.started_at >= g.failed_at and e.status in ${SUCCESSES} and e.ended_at >= ${to}
                 order by e.started_at, e.id limit 1)) as restored_at
         from grouped g
        where g.failed_at is not null
          and (g.nth > 0 or coalesce((
                select e.status not in ${FAILURES} from deployments e
                 where ${at} and e.started_at < ${from} and e.ended_at < ${from}
                   and (e.status in ${SUCCESSES} or e.status in ${FAILURES})
                 order by e.started_at desc, e.id desc limit 1), true)))
     select (count(f.restored_at))::int as restored, (count(*) - count(f.restored_at))::int as open,
            percentile_disc(0.5) within group (order by f.restored_at - f.failed_at) as median
       from failures f`,
    values,
  );
  return rows[0] ?? { restored: 0, open: 0, median: null };
}
