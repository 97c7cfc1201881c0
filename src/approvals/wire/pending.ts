/** Approvals that wait, as REST shows them. */
import { z } from "zod";
import type { Actor } from "../../core/actor.ts";
import { toWire } from "../../core/ids.ts";
import { wireId } from "../../platform/http/response/shapes.ts";
import { type PendingApproval, REFUSALS } from "../approval.ts";
import { approvalData, approvalShape, type ShownApproval } from "./approvals.ts";

/** An approval as `approval.decide` answers it, with what it belongs to and whether the caller may decide it. */
export const pendingApproval = (shown: ShownApproval & { readonly approval: PendingApproval }, actor: Actor) => {
  const { approval } = shown;
  const { orgIdentifier, projectIdentifier, pipelineIdentifier, pipelineName, runSequence, triggeredBy } = approval;
  return {
    ...approvalData(shown, actor),
    planExecutionId: toWire(approval.executionId),
    nodeExecutionId: toWire(approval.nodeId),
    ...{ orgIdentifier, projectIdentifier, pipelineIdentifier, pipelineName, runSequence },
    stageIdentifier: approval.stageIdentifier,
    stageName: approval.stageName,
    stepName: approval.stepName,
    triggeredBy: { name: triggeredBy.name, email: triggeredBy.email },
    mayDecide: approval.refusal === undefined,
    refusal: approval.refusal ?? null,
  };
};

const pendingShape = approvalShape.extend({
  planExecutionId: wireId,
  nodeExecutionId: wireId,
  orgIdentifier: z.string(),
  projectIdentifier: z.string(),
  pipelineIdentifier: z.string(),
  pipelineName: z.string(),
  runSequence: z.int(),
  stageIdentifier: z.string(),
  stageName: z.string(),
  stepName: z.string(),
  triggeredBy: z.strictObject({ name: z.string(), email: z.string().nullable() }),
  mayDecide: z.boolean(),
  refusal: z.enum(REFUSALS).nullable().describe("Why the caller may not decide it."),
});

export const pendingPageShape = z.strictObject({
  content: z.array(pendingShape),
  size: z.int(),
  lastSeenApprovalId: wireId.nullable().describe("Where the next page goes on; null on the last one."),
});
