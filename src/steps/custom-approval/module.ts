import { stepModule } from "../step-module.ts";
import { plan } from "./plan.ts";
import { run } from "./run.ts";
import { customApproval as schema, type CustomApprovalSpec } from "./schema.ts";
import { shown, valueFields } from "./value-fields.ts";

const DAY_MS = 86_400_000;

/** Runs a script on a delegate at intervals, until it approves or rejects. */
export const customApproval = stepModule<CustomApprovalSpec>({
  type: "CustomApproval",
  schema,
  valueFields,
  shown,
  delegateSelectors: (spec) => spec.delegateSelectors,
  plan,
  defaultTimeoutMs: DAY_MS,
  run,
});
