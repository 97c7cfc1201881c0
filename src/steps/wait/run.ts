import { evaluateTemplate, parseDuration, type StepType } from "../../engine/index.ts";
import { DURATION_FORM } from "./schema.ts";

/** The work of a Wait step before its expressions are resolved. */
export type WaitTemplate = { readonly kind: "wait"; readonly duration: string };

/** Waits for a time. People may end it before with the interrupts MarkAsSuccess and MarkAsFailure. */
export const run: StepType = {
  begin({ step, name, at, scope }) {
    const duration = evaluateTemplate((step.work as WaitTemplate).duration, scope());
    const ms = parseDuration(duration.trim());
    if (ms === undefined) {
      const message = `Step '${name}' failed: its duration is '${duration.slice(0, 80)}'. ${DURATION_FORM}`;
      return { kind: "end", status: "failed", failure: { message, types: ["ConfigurationFailure"] } };
    }
    const until = at + ms;
    return {
      kind: "wait",
      reason: { kind: "duration", message: `Waits until ${new Date(until).toISOString()}.` },
      until,
    };
  },
  receive: () => ({ kind: "end", status: "succeeded" }),
};
