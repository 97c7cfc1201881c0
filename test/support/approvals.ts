/** Pipelines with steps that wait for approval. Everything is in the project `p` of the organization `default`. */
import assert from "node:assert/strict";
import type { Answer, SendOptions } from "./platform.ts";
import { SCOPE } from "./runs.ts";

type Sender = { readonly send: (method: string, path: string, options?: SendOptions) => Promise<Answer> };

export type ApprovalSketch = {
  readonly id: string;
  readonly timeout?: string;
  /** Fields of `spec` beside `approvers`. */
  readonly spec?: object;
  readonly approvers?: object;
  /** Steps before and after. */
  readonly before?: readonly object[];
  readonly after?: readonly object[];
  readonly failureStrategies?: readonly object[];
};

export const approvalStep = ({ id, timeout, spec = {}, approvers = {} }: ApprovalSketch): object => ({
  step: {
    ...{ type: "PlatformApproval", name: id, identifier: id },
    ...(timeout && { timeout }),
    spec: {
      approvalMessage: "Release?",
      includePipelineExecutionHistory: true,
      approvers: { minimumCount: 1, disallowPipelineExecutor: false, userGroups: ["approvers"], ...approvers },
      ...spec,
    },
  },
});

const pipelineOf = (sketch: Pick<ApprovalSketch, "id" | "failureStrategies">, steps: readonly object[]) => ({
  name: `run_${sketch.id}`,
  identifier: `run_${sketch.id}`,
  orgIdentifier: "default",
  projectIdentifier: "p",
  stages: [
    {
      stage: {
        name: "Release stage",
        identifier: "release",
        type: "Deployment",
        failureStrategies: sketch.failureStrategies ?? [],
        spec: {
          serviceConfig: { serviceRef: "s" },
          infrastructure: { environmentRef: "e" },
          execution: { steps },
        },
      },
    },
  ],
});

export async function addApprovalPipeline(to: Sender, sketch: ApprovalSketch): Promise<void> {
  await addStepsPipeline(to, sketch, [...(sketch.before ?? []), approvalStep(sketch), ...(sketch.after ?? [])]);
}

/** The pipeline `run_ID` with these steps. */
export async function addStepsPipeline(
  to: Sender,
  sketch: Pick<ApprovalSketch, "id" | "failureStrategies">,
  steps: readonly object[],
): Promise<void> {
  const answer = await to.send("POST", `/pipeline/api/pipelines?${SCOPE}`, {
    contentType: "application/json",
    body: JSON.stringify({ pipeline: pipelineOf(sketch, steps) }),
  });
  assert.equal(answer.status, 200, answer.text);
}

const listPath = (executionId: string): string => `/v1/orgs/default/projects/p/approvals/execution/${executionId}`;

// oxlint-disable-next-line typescript/no-explicit-any -- tests read arbitrary responses
export async function approvalsOf(to: Sender, executionId: string, query = ""): Promise<any[]> {
  const answer = await to.send("GET", `${listPath(executionId)}${query}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

export type Decision = {
  readonly action?: "APPROVE" | "REJECT";
  readonly comments?: string;
  readonly approverInputs?: readonly { readonly name: string; readonly value: string }[];
};

/** `apiKey`: who acts. */
export const decide = (
  to: Sender,
  id: string,
  apiKey: string,
  { action = "APPROVE", ...rest }: Decision = {},
): Promise<Answer> =>
  to.send("POST", `/pipeline/api/approvals/${id}/platform/activity`, {
    apiKey,
    contentType: "application/json",
    body: JSON.stringify({ action, ...rest }),
  });

export const decideByCallback = (
  to: Sender,
  executionId: string,
  callbackId: string,
  apiKey: string,
): Promise<Answer> =>
  to.send("POST", `${listPath(executionId)}?callback_id=${callbackId}`, {
    apiKey,
    contentType: "application/json",
    body: JSON.stringify({ action: "APPROVE", comments: "by callback", approver_inputs: [] }),
  });
