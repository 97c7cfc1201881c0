import { evaluateTemplate, type LockTemplate, type StepType } from "../../engine/index.ts";
import { keyFault } from "./schema.ts";

/** Asks for a lock, and ends when it is granted. What stands around it holds the lock. */
export const run: StepType = {
  begin({ step, name, scope }) {
    const template = step.work as LockTemplate;
    const key = evaluateTemplate(template.key, scope());
    const fault = keyFault(key);
    if (fault !== undefined) {
      const failure = { message: `Step '${name}' failed: ${fault}`, types: ["ConfigurationFailure" as const] };
      return { kind: "end", status: "failed", failure };
    }
    return {
      kind: "wait",
      reason: { kind: "lock", message: `Waits for the lock '${key}'.` },
      request: { service: "lock", key, until: template.until },
    };
  },
  receive: () => ({ kind: "end", status: "succeeded" }),
};
