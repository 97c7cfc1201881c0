import type { LockTemplate } from "../../engine/index.ts";
import { stepModule } from "../step-module.ts";
import { run } from "./run.ts";
import { queue as schema, type QueueSpec } from "./schema.ts";

/** Waits until no other execution has the lock; needs no delegate. */
export const queue = stepModule<QueueSpec>({
  type: "Queue",
  description: "Waits until no other execution has the lock, and takes it.",
  snippet: { name: "Take the lock", spec: { key: "release", scope: "Pipeline" } },
  schema,
  valueFields: ({ key }) => [{ kind: "text", path: ["key"], value: key }],
  shown: (spec) => spec,
  delegateSelectors: () => undefined,
  plan: ({ key, scope }): LockTemplate => ({
    kind: "queue",
    key,
    until: scope === "Stage" ? "stage" : "pipeline",
  }),
  run,
});
