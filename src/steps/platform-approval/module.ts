import { stepModule } from "../step-module.ts";
import { plan } from "./plan.ts";
import { run } from "./run.ts";
import { platformApproval as schema, type PlatformApprovalSpec } from "./schema.ts";
import { shown, valueFields } from "./value-fields.ts";

const DAY_MS = 86_400_000;

/** Waits until people or service accounts approve or reject; needs no delegate. */
export const platformApproval = stepModule<PlatformApprovalSpec>({
  type: "PlatformApproval",
  description: "Waits until people or service accounts approve or reject.",
  snippet: {
    name: "Approve",
    spec: {
      approvalMessage: "Release <+pipeline.name>?",
      includePipelineExecutionHistory: true,
      approvers: {
        minimumCount: 1,
        disallowPipelineExecutor: false,
        userGroups: ["account._account_all_users"],
      },
    },
  },
  schema,
  valueFields,
  shown,
  delegateSelectors: () => undefined,
  plan,
  defaultTimeoutMs: DAY_MS,
  run,
});
