/** The four measures of delivery (DORA) over the deployments to production environments. */
import type { Actor } from "../../core/actor.ts";
import type { Uuid } from "../../core/ids.ts";
import type { InProject } from "../../pipelines/index.ts";
import { daysOf, type Day, type Range } from "../statistics/days.ts";
import {
  countDeploymentsByDay,
  findLeadTimes,
  findRestorations,
  type LeadTimes,
  type Restorations,
} from "../store/deployment-measures.ts";
import { seenInProject } from "../visible.ts";
import { openProject, targetOf, type DeploymentDeps, type TargetFilter } from "./list.ts";

type Counts = { readonly deployments: number; readonly failures: number };

export type Measures = Counts & {
  readonly days: readonly (Day & Counts)[];
  readonly restorations: Restorations;
  readonly leadTimes: LeadTimes;
};

/** The production environments of a project and of what is around it, as the project refers to them. */
export type FindProductionEnvironments = (accountId: Uuid, scope: InProject) => Promise<readonly string[]>;

type Deps = DeploymentDeps & { readonly findProductionEnvironments: FindProductionEnvironments };

/**
 * Of the deployments that ended in the time, as far as the actor may see their pipelines. Throws `project.not_found` and
 * `execution.bad_range`.
 */
export const getMeasures =
  (deps: Deps) =>
  async (
    actor: Actor,
    scope: InProject,
    { environmentIdentifier, serviceIdentifier, ...range }: Range & TargetFilter,
  ): Promise<Measures> => {
    const { accountId } = actor;
    const days = daysOf(range);
    const projectId = await openProject(deps, actor, scope);
    const { environment, service } = targetOf({ environmentIdentifier, serviceIdentifier });
    const production = await deps.findProductionEnvironments(accountId, scope);
    const environments = production.filter((one) => environment === undefined || one === environment);
    const starts = [...days.map(({ startTime }) => startTime), days.at(-1)?.endTime ?? 0];
    const filter = {
      conditions: await seenInProject(deps.db, actor, projectId),
      projectId,
      environments,
      service,
      starts,
    };
    const rows = await countDeploymentsByDay(deps.db, accountId, filter);
    const byDay = new Map(rows.map(({ day, deployments, failures }) => [day, { deployments, failures }]));
    const sum = (of: keyof Counts): number => rows.reduce((total, row) => total + row[of], 0);
    return {
      days: days.map((day, nth) => ({ ...day, ...(byDay.get(nth + 1) ?? { deployments: 0, failures: 0 }) })),
      deployments: sum("deployments"),
      failures: sum("failures"),
      restorations: await findRestorations(deps.db, accountId, filter),
      leadTimes: await findLeadTimes(deps.db, accountId, filter),
    };
  };

export type GetMeasures = ReturnType<typeof getMeasures>;
