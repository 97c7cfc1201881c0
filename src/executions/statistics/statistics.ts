import type { Actor } from "../../core/actor.ts";
import { listed } from "../../access/index.ts";
import type { InProject } from "../../pipelines/index.ts";
import type { Db } from "../../platform/db/db.ts";
import type { GetProject } from "../../projects/index.ts";
import { storable } from "../marks.ts";
import type { ExecutionFilter } from "../store/conditions.ts";
import { countByDay } from "../store/statistics.ts";
import { seenInProject } from "../visible.ts";
import { daysOf, type Day, type Range } from "./days.ts";
import { summaryOfRuns, type RunsSummary } from "./summary.ts";

export type Statistics = {
  readonly days: readonly (Day & RunsSummary)[];
  readonly total: RunsSummary;
};

type Deps = { readonly db: Db; readonly getProject: GetProject };

/**
 * Executions of a project that have ended, by the day in which they began, as far as the actor may see their pipelines.
 * Throws `project.not_found` and `execution.bad_range`.
 */
export const getStatistics =
  ({ db, getProject }: Deps) =>
  async (
    actor: Actor,
    scope: InProject,
    range: Range & { readonly pipelineIdentifier?: string | undefined },
  ): Promise<Statistics> => {
    const { accountId } = actor;
    listed(actor, "core_pipeline_view", { accountId, ...scope });
    const days = daysOf(range);
    const project = await getProject(actor, scope.orgIdentifier, scope.projectIdentifier);
    const { pipelineIdentifier } = range;
    const [startTime, endTime] = [days[0]?.startTime ?? 0, days.at(-1)?.endTime ?? 0];
    const filter: ExecutionFilter = [
      { is: "projectIs", value: project.id },
      ...(await seenInProject(db, actor, project.id)),
      { is: "begunFrom", value: startTime },
      { is: "begunBefore", value: endTime },
      ...(pipelineIdentifier === undefined
        ? []
        : [{ is: "pipelineIdentifier" as const, value: storable(pipelineIdentifier) }]),
    ];
    const rows = await countByDay(db, accountId, filter, [...days.map((day) => day.startTime), endTime]);
    const byDay = Map.groupBy(rows, ({ day }) => day);
    return {
      days: days.map((day, nth) => ({ ...day, ...summaryOfRuns(byDay.get(nth + 1) ?? []) })),
      total: summaryOfRuns(rows),
    };
  };

export type GetStatistics = ReturnType<typeof getStatistics>;
