import { z } from "zod";
import { toWire } from "../../core/ids.ts";
import { ok } from "../../platform/http/response/answers.ts";
import { pageSize } from "../../platform/http/response/pages.ts";
import { enveloped, epochMs, wireId } from "../../platform/http/response/shapes.ts";
import { route, type Route } from "../../platform/http/routes.ts";
import { TRIGGER_TYPES } from "../execution.ts";
import type { OverviewRow } from "../store/overview.ts";
import { restStatus } from "../wire/status.ts";
import type { GetOverview, OverviewExecution } from "./overview.ts";

const LARGEST = 50;

const execution = {
  planExecutionId: wireId,
  orgIdentifier: z.string(),
  projectIdentifier: z.string(),
  projectName: z.string(),
  pipelineIdentifier: z.string(),
  pipelineName: z.string(),
  runSequence: z.int(),
  status: z.string(),
  createdAt: epochMs,
  startTs: epochMs.nullable(),
  endTs: epochMs.nullable(),
  triggerType: z.enum(TRIGGER_TYPES),
  triggeredBy: z.strictObject({ identifier: z.string(), name: z.string(), email: z.string().nullable() }),
};

const openShape = z.strictObject({
  ...execution,
  waitReason: z.string().nullable().describe("Why it, or a step of it, waits."),
  waitsSince: epochMs.nullable(),
});

const overviewShape = z.strictObject({
  running: z.array(openShape),
  waiting: z.array(openShape),
  failed: z.array(z.strictObject({ ...execution, failure: z.string().nullable() })),
});

const executionToWire = (one: OverviewRow) => ({
  planExecutionId: toWire(one.id),
  orgIdentifier: one.orgIdentifier,
  projectIdentifier: one.projectIdentifier,
  projectName: one.projectName,
  pipelineIdentifier: one.pipelineIdentifier,
  pipelineName: one.pipelineName,
  runSequence: one.runSequence,
  status: restStatus(one.status),
  createdAt: one.createdAt,
  startTs: one.startedAt,
  endTs: one.endedAt,
  triggerType: one.triggerType,
  triggeredBy: {
    identifier: one.triggeredBy.identifier,
    name: one.triggeredBy.name,
    email: one.triggeredBy.email,
  },
});

const openToWire = (one: OverviewExecution) => ({
  ...executionToWire(one),
  waitReason: one.waitReason ?? null,
  waitsSince: one.waitsSince,
});

export const overviewRoute = (overview: GetOverview): Route =>
  route({
    method: "GET",
    path: "/pipeline/api/pipelines/execution/summary/overview",
    operation: "execution.overview",
    access: { permission: "core_pipeline_view" },
    query: z.object({ size: pageSize(LARGEST).describe("At most so many of each kind.").default(10) }),
    doc: {
      summary: "The newest executions that run, wait or have failed, in all projects that the caller may see",
      answer: enveloped(overviewShape),
    },
    handle: async (call) => {
      const { running, waiting, failed } = await overview(call.actor, call.query.size);
      return ok(call, {
        running: running.map(openToWire),
        waiting: waiting.map(openToWire),
        failed: failed.map((one) => ({ ...executionToWire(one), failure: one.failure })),
      });
    },
  });
