import { stepModule } from "../step-module.ts";
import { plan } from "./plan.ts";
import { run } from "./run.ts";
import { customApproval as schema, type CustomApprovalSpec } from "./schema.ts";
import { shown, valueFields } from "./value-fields.ts";

const DAY_MS = 86_400_000;

/** Runs a script on a delegate at intervals, until it approves or rejects. */
export const customApproval = stepModule<CustomApprovalSpec>({
  type: "CustomApproval",
  description: "Runs a script at intervals until its outputs approve or reject.",
  snippet: {
    name: "Ask a program",
    spec: {
      shell: "Bash",
      source: { type: "Inline", spec: { script: "state=approved\n" } },
      retryInterval: "1m",
      scriptTimeout: "30s",
      outputVariables: [{ name: "state", type: "String", value: "state" }],
      approvalCriteria: {
        type: "KeyValues",
        spec: { matchAnyCondition: true, conditions: [{ key: "state", operator: "equals", value: "approved" }] },
      },
    },
  },
  schema,
  valueFields,
  shown,
  delegateSelectors: (spec) => spec.delegateSelectors,
  plan,
  defaultTimeoutMs: DAY_MS,
  run,
});
