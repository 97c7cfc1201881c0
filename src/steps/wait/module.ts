import { MAX_DURATION_MS } from "../../engine/index.ts";
import { stepModule } from "../step-module.ts";
import { run, type WaitTemplate } from "./run.ts";
import { wait as schema, type WaitSpec } from "./schema.ts";

/** Waits for a time on the server; needs no delegate. */
export const wait = stepModule<WaitSpec>({
  type: "Wait",
  description: "Waits for a time.",
  snippet: { name: "Wait a while", spec: { duration: "10m" } },
  schema,
  valueFields: ({ duration }) => [{ kind: "text", path: ["duration"], value: duration }],
  shown: (spec) => spec,
  delegateSelectors: () => undefined,
  plan: ({ duration }): WaitTemplate => ({ kind: "wait", duration }),
  // Beyond every duration: a step that gives no timeout waits for as long as it says.
  defaultTimeoutMs: MAX_DURATION_MS + 60_000,
  run,
});
