import { stepModule } from "../step-module.ts";
import { type QueueTemplate, run } from "./run.ts";
import { queue as schema, type QueueSpec } from "./schema.ts";

/** Waits until no other execution has the lock; needs no delegate. */
export const queue = stepModule<QueueSpec>({
  type: "Queue",
  schema,
  valueFields: ({ key }) => [{ kind: "text", path: ["key"], value: key }],
  shown: (spec) => spec,
  delegateSelectors: () => undefined,
  plan: ({ key, scope }): QueueTemplate => ({
    kind: "queue",
    key,
    until: scope === "Stage" ? "stage" : "pipeline",
  }),
  run,
});
