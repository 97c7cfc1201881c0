import {
  evaluateTemplate,
  ExpressionError,
  type FailureType,
  type Json,
  newBudget,
  type Scope,
  type StepAction,
  type StepAttempt,
  type StepEnd,
  type StepType,
} from "../../engine/index.ts";
import { ruleFault } from "./approver-input.ts";
import type { ApprovalTemplate } from "./plan.ts";
import type { ApprovalActivity, ApprovalAnswer, ApprovalRequest, ApproverInput } from "./request.ts";

const templateOf = ({ step }: StepAttempt): ApprovalTemplate => step.work as unknown as ApprovalTemplate;

/** What is kept between two answers: the request as it was sent, and what approvers did. */
type Progress = { readonly request: ApprovalRequest; readonly activities: readonly ApprovalActivity[] };

/** Asks the approvals slice for a decision, and ends with it. */
export const run: StepType = {
  needsApproval: true,
  begin(attempt) {
    const { autoApproval } = templateOf(attempt);
    if (autoApproval && autoApproval.at <= attempt.at) {
      const message = `its scheduled deadline ${new Date(autoApproval.at).toISOString()} has passed`;
      return failed(attempt, message, "ConfigurationFailure");
    }
    return waiting(attempt, { request: resolved(attempt), activities: [] });
  },
  receive(attempt, signal) {
    const progress = attempt.attempt.progress as unknown as Progress;
    switch (signal.kind) {
      case "answered": {
        const { decision, activities } = signal.answer as unknown as ApprovalAnswer;
        const next = { ...progress, activities };
        if (decision === "pending") return waiting(attempt, next);
        return decision === "approved" ? approved(next) : rejected(attempt, next);
      }
      case "timerFired":
        return approved({ ...progress, activities: [...progress.activities, scheduled(attempt)] });
      case "taskEnded":
      case "taskOverdue":
      case "taskLost":
        return failed(attempt, "a delegate answered instead of an approver", "ApplicationError");
    }
  },
};

function waiting(attempt: StepAttempt, progress: Progress): StepAction {
  const { request, activities } = progress;
  const { autoApproval } = templateOf(attempt);
  return {
    kind: "wait",
    reason: { kind: "approval", message: reasonOf(request, activities.length) },
    ...(autoApproval && { until: autoApproval.at }),
    request: { service: "approval", request: request as unknown as Json },
    progress: progress as unknown as Json,
  };
}

/** For whom the step waits. */
function reasonOf({ approvers }: ApprovalRequest, done: number): string {
  const { userGroups, serviceAccounts, minimumCount } = approvers;
  const names = [...userGroups, ...serviceAccounts].slice(0, 5).join(", ");
  const count = minimumCount === 1 ? "an approval" : `${minimumCount - done} of ${minimumCount} approvals`;
  return `Waits for ${count} by ${names}.`;
}

/** The request with its expressions replaced. Throws ExpressionError. */
function resolved(attempt: StepAttempt): ApprovalRequest {
  const { message, approvers, inputs, callbackId, ...template } = templateOf(attempt);
  const fill = filler(attempt.scope());
  return {
    message: fill(message),
    approvers: {
      ...approvers,
      userGroups: approvers.userGroups.map(fill),
      serviceAccounts: approvers.serviceAccounts.map(fill),
      disallowedUserEmails: approvers.disallowedUserEmails.map(fill),
    },
    inputs: inputs.map((input) => withDefault(input, fill)),
    includePipelineExecutionHistory: template.includePipelineExecutionHistory,
    callbackId: callbackId === null ? null : fill(callbackId),
    place: template.place,
    deadline: attempt.at + attempt.step.timeoutMs,
  };
}

function filler(scope: Scope): (text: string) => string {
  const budget = newBudget();
  return (text) => evaluateTemplate(text, scope, budget);
}

function withDefault(input: ApproverInput, fill: (text: string) => string): ApproverInput {
  const defaultValue = fill(input.defaultValue);
  const fault = defaultValue === "" ? undefined : ruleFault(defaultValue, input.rule);
  if (fault === undefined) return { ...input, defaultValue };
  throw new ExpressionError("type", `The default of the approver input '${input.name}' ${fault}`, 0);
}

const scheduled = (attempt: StepAttempt): ApprovalActivity => ({
  user: { name: "Scheduled approval", email: "" },
  action: "APPROVE",
  comments: evaluateTemplate(templateOf(attempt).autoApproval?.comments ?? "", attempt.scope()),
  approverInputs: [],
  approvedAt: attempt.at,
});

/** Later approvers have precedence over earlier ones. */
function outputOf({ request, activities }: Progress): NonNullable<StepEnd["output"]> {
  const given = activities.flatMap(({ approverInputs }) => approverInputs.map(({ name, value }) => [name, value]));
  const usual = request.inputs.map(({ name, defaultValue }) => [name, defaultValue]);
  return {
    approverInputs: Object.fromEntries([...usual, ...given]) as Json,
    approvalActivities: activities,
  };
}

const approved = (progress: Progress): StepEnd => ({ kind: "end", status: "succeeded", output: outputOf(progress) });

function rejected({ name }: StepAttempt, progress: Progress): StepEnd {
  const { user, comments } = progress.activities.at(-1) ?? { user: { name: "an approver" }, comments: "" };
  const why = comments === "" ? "" : `: ${comments.slice(0, 500)}`;
  const failure = {
    message: `Step '${name}' was rejected by ${user.name}${why}`,
    types: ["ApprovalRejection" as const],
  };
  return { kind: "end", status: "rejected", failure, output: outputOf(progress) };
}

const failed = ({ name }: StepAttempt, why: string, type: FailureType): StepEnd => ({
  kind: "end",
  status: "failed",
  failure: { message: `Step '${name}' failed: ${why}`, types: [type] },
});
