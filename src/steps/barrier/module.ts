import type { BarrierTemplate, StepType } from "../../engine/index.ts";
import { stepModule } from "../step-module.ts";
import { barrier as schema, type BarrierSpec } from "./schema.ts";

/** The engine lets the steps of a barrier through together, and says for which the others wait. */
const run: StepType = {
  begin({ step }) {
    const { reference } = step.work as BarrierTemplate;
    return {
      kind: "wait",
      reason: { kind: "barrier", message: `Waits at barrier '${reference}'.` },
      isAtBarrier: true,
    };
  },
  receive: () => ({ kind: "end", status: "succeeded" }),
};

/** Waits until all steps of its barrier have arrived; needs no delegate. */
export const barrier = stepModule<BarrierSpec>({
  type: "Barrier",
  description: "Waits until all steps of the barrier have arrived.",
  snippet: {
    name: "Wait for all",
    spec: { barrierRef: "ready" },
    pipeline: { flowControl: { barriers: [{ identifier: "ready", name: "Ready" }] } },
  },
  schema,
  valueFields: () => [],
  shown: (spec) => spec,
  delegateSelectors: () => undefined,
  plan: ({ barrierRef }): BarrierTemplate => ({ kind: "barrier", reference: barrierRef }),
  run,
});
