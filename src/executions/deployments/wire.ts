/** Deployments and their measures, as REST shows them. */
import { z } from "zod";
import { toWire } from "../../core/ids.ts";
import { epochMs, wireId } from "../../platform/http/response/shapes.ts";
import { TRIGGER_TYPES } from "../execution.ts";
import { dayShape } from "../statistics/wire.ts";
import { restStatus } from "../wire/status.ts";
import type { DeployedService, Deployment } from "./deployment.ts";
import type { Measures } from "./measures.ts";

export const deploymentToWire = (one: Deployment) => ({
  deploymentId: toWire(one.id),
  planExecutionId: toWire(one.executionId),
  isExecutionDeleted: one.isExecutionDeleted,
  pipelineIdentifier: one.pipelineIdentifier,
  pipelineName: one.pipelineName,
  runSequence: one.runSequence,
  serviceIdentifier: one.service,
  environmentIdentifier: one.environment,
  status: restStatus(one.status),
  version: one.version,
  commitId: one.commitId,
  committedAt: one.committedAt,
  triggerType: one.triggerType,
  triggeredBy: {
    identifier: one.triggeredBy.identifier,
    name: one.triggeredBy.name,
    email: one.triggeredBy.email,
  },
  startTs: one.startedAt,
  endTs: one.endedAt,
});

export const deploymentShape = z.strictObject({
  deploymentId: wireId.describe("The id of the stage's node: its nodeExecutionId."),
  planExecutionId: wireId,
  isExecutionDeleted: z.boolean().describe("Whether the retention has deleted the execution."),
  pipelineIdentifier: z.string(),
  pipelineName: z.string(),
  runSequence: z.int(),
  serviceIdentifier: z.string(),
  environmentIdentifier: z.string(),
  status: z.string(),
  version: z.string().nullable().describe("A variable version, tag, imageTag, image_tag or image."),
  commitId: z.string().nullable().describe("The commit that the trigger's payload names."),
  committedAt: epochMs.nullable(),
  triggerType: z.enum(TRIGGER_TYPES),
  triggeredBy: z.strictObject({ identifier: z.string(), name: z.string(), email: z.string().nullable() }),
  startTs: epochMs,
  endTs: epochMs.nullable(),
});

export const deployedToWire = ({ service, environment, running, latest }: DeployedService) => ({
  serviceIdentifier: service,
  environmentIdentifier: environment,
  running: running && deploymentToWire(running),
  latest: deploymentToWire(latest),
});

export const deployedShape = z.strictObject({
  serviceIdentifier: z.string(),
  environmentIdentifier: z.string(),
  running: deploymentShape.nullable().describe("The last deployment that succeeded."),
  latest: deploymentShape.describe("The last one that was begun."),
});

const rate = (part: number, of: number): number | null => (of === 0 ? null : part / of);

export const measuresToWire = ({ days, deployments, failures, restorations, leadTimes }: Measures) => ({
  ...{ deployments, failures },
  deploymentsPerDay: deployments / days.length,
  changeFailureRate: rate(failures, deployments + failures),
  timeToRestore: {
    ...restorations,
    reason: restorations.restored > 0 ? null : restorations.open > 0 ? "NOT_RESTORED" : "NO_FAILURE",
  },
  leadTime: {
    ...leadTimes,
    reason: leadTimes.counted > 0 ? null : deployments > 0 ? "NO_COMMIT_TIME" : "NO_DEPLOYMENT",
  },
  days,
});

const counts = { deployments: z.int().describe("Those that succeeded."), failures: z.int() };
const median = z.int().nullable().describe("Milliseconds; null for the reason that `reason` says.");

export const measuresShape = z.strictObject({
  timeZone: z.string(),
  ...counts,
  deploymentsPerDay: z.number().describe("Deployment frequency: those that succeeded."),
  changeFailureRate: z.number().nullable().describe("The part that failed, from 0 to 1; null without deployments."),
  timeToRestore: z.strictObject({
    ...{ median, restored: z.int(), open: z.int().describe("Failures that are not restored yet.") },
    reason: z.enum(["NO_FAILURE", "NOT_RESTORED"]).nullable(),
  }),
  leadTime: z.strictObject({
    ...{ median, counted: z.int().describe("Deployments whose commit's time is known.") },
    reason: z.enum(["NO_DEPLOYMENT", "NO_COMMIT_TIME"]).nullable(),
  }),
  days: z.array(z.strictObject({ ...dayShape, ...counts })),
});
