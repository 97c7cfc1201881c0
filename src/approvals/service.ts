/** What executions ask of approvals, in the transaction that saves their state. Each is one statement, sent at once. */
import type { Clock } from "../core/clock.ts";
import type { NewId } from "../core/ids.ts";
import type { AnswerService } from "../executions/index.ts";
import type { ApprovalStatus } from "./approval.ts";
import { endWaiting, insertApproval } from "./store/approvals.ts";

export const STUCK = "The execution could not go on.";

type Deps = { readonly clock: Clock; readonly newId: NewId };

export const createApprovalService = ({ clock, newId }: Deps): AnswerService => ({
  send: (tx, { accountId, executionId, nodeId }, request) =>
    insertApproval(tx, accountId, { executionId, nodeId, id: newId(), request, at: clock.now() }),
  withdraw: (tx, { accountId, executionId, nodeId }, attempt) => {
    const activities = attempt.output?.["approvalActivities"] ?? null;
    const error = attempt.failure?.message ?? null;
    const end = { status: statusOf(attempt), error, activities, at: clock.now() };
    return endWaiting(tx, accountId, { executionId, nodeId }, end);
  },
  withdrawAll: (tx, { accountId, executionId }) => {
    const end = { status: "FAILED", error: STUCK, activities: null, at: clock.now() } as const;
    return endWaiting(tx, accountId, { executionId, nodeId: null }, end);
  },
});

type Attempt = Parameters<AnswerService["withdraw"]>[2];

/** A step that was marked as successful by hand has not been approved. */
function statusOf({ status, output }: Attempt): ApprovalStatus {
  if (status === "succeeded") return output === null ? "ABORTED" : "APPROVED";
  if (status === "expired") return "EXPIRED";
  return status === "failed" || status === "errored" ? "FAILED" : "ABORTED";
}
