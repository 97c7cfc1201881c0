import { z } from "zod";
import { ok } from "../../platform/http/response/answers.ts";
import { enveloped } from "../../platform/http/response/shapes.ts";
import { route, type Route } from "../../platform/http/routes.ts";
import type { GetStatistics } from "./statistics.ts";
import { rangeQuery, statisticsShape, summaryToWire } from "./wire.ts";

export const statisticsRoute = (statistics: GetStatistics): Route =>
  route({
    method: "GET",
    path: "/pipeline/api/pipelines/execution/summary/statistics",
    operation: "execution.statistics",
    access: { permission: "core_pipeline_view" },
    query: rangeQuery.extend({ pipelineIdentifier: z.string().optional() }),
    doc: {
      summary: "Count the executions of a project by day and status, with their durations",
      description: "It counts those that have ended, on the day in which they began.",
      queryExample: { startTime: "1767225600000", endTime: "1767830400000", timeZone: "Europe/Berlin" },
      answer: enveloped(statisticsShape),
    },
    handle: async (call) => {
      const { orgIdentifier, projectIdentifier, ...range } = call.query;
      const { days, total } = await statistics(call.actor, { orgIdentifier, projectIdentifier }, range);
      return ok(call, {
        timeZone: range.timeZone,
        days: days.map(({ date, startTime, endTime, ...runs }) => ({
          date,
          startTime,
          endTime,
          ...summaryToWire(runs),
        })),
        total: summaryToWire(total),
      });
    },
  });
