/**
 * Planted faults, which test the checker. Each replaces a few lines of modules in the memory of the processes of a
 * run. If the lines are not in the module any more, the process ends, and the plant must be updated.
 */
import type { Fault } from "./plan.ts";
import type { Check } from "../checks/violation.ts";
import type { Kind } from "../load/kinds.ts";

export type PlantName = "skip-epoch-check" | "ack-before-commit" | "wall-clock-grace" | "broken-flow";

export type PlantedChange = {
  /** Path of the module in the checkout. */
  readonly module: string;
  readonly replace: readonly [from: RegExp, to: string];
  /** The check that must find it. */
  readonly foundBy: Check;
};

export type Plant = {
  readonly changes: readonly PlantedChange[];
  /** A run that must find the changes: its length, its faults and its load. */
  readonly seconds: number;
  readonly faults: readonly Fault[];
  readonly weights: Readonly<Partial<Record<Kind, number>>>;
};

export const PLANTS: Readonly<Record<PlantName, Plant>> = {
  "skip-epoch-check": {
    changes: [
      {
        module: "src/delegates/session/process-task-messages.ts",
        replace: [/ \|\| row\.epoch !== message\.epoch/g, ""],
        foundBy: "log",
      },
    ],
    seconds: 12,
    faults: [
      { at: 4, seconds: 1, kind: "wrong epochs", target: "delegate-1" },
      { at: 8, seconds: 1, kind: "wrong epochs", target: "delegate-2" },
    ],
    weights: { long: 1 },
  },
  "ack-before-commit": {
    changes: [
      {
        module: "src/triggers/webhooks/receive.ts",
        replace: [
          /await insertDelivery\((deps\.db, [^()]*)\)/g,
          "(setTimeout(() => void insertDelivery($1).catch(() => undefined), 1_000), true)",
        ],
        foundBy: "accepted",
      },
    ],
    seconds: 12,
    faults: [
      { at: 4, seconds: 1, kind: "kill", target: "server-a" },
      { at: 8, seconds: 1, kind: "kill", target: "server-b" },
    ],
    weights: { hook: 1 },
  },
  "wall-clock-grace": {
    changes: [
      {
        module: "src/delegates/session/silence-tracker.ts",
        replace: [
          /holders\.filter\(\(\{ delegateId \}\) => now - .* > LOST_AFTER_MS\)/g,
          "holders.filter(({ seenAt }) => Date.now() - seenAt > LOST_AFTER_MS)",
        ],
        foundBy: "outcome",
      },
    ],
    seconds: 15,
    faults: [{ at: 5, seconds: 0, kind: "clock", target: "server-b", minutes: 60 }],
    weights: { long: 1 },
  },
  // One run for all: each change is found by a check of its own.
  "broken-flow": {
    changes: [
      {
        module: "src/approvals/act.ts",
        replace: [/\[\.\.\.approval\.activities, activity\]/g, "[...approval.activities, activity, activity]"],
        foundBy: "decisions",
      },
      {
        module: "src/engine/node-retry.ts",
        replace: [/purpose: "retry", at \}/g, 'purpose: "retry", at: 0 }'],
        foundBy: "times",
      },
      { module: "src/engine/walk.ts", replace: [/if \(run\.paused\)/g, "if (false)"], foundBy: "pauses" },
      {
        module: "src/locks/lock.ts",
        replace: [/!holders\.values\(\)\.every\(.*\)\)/g, "false)"],
        foundBy: "exclusive",
      },
      {
        module: "src/engine/run.ts",
        replace: [/endedAt: run\.at, waitsFor: \[\]/g, "endedAt: run.at, waitsFor: attempt.waitsFor"],
        foundBy: "nodes",
      },
      {
        module: "src/executions/store/logs.ts",
        replace: [/data\.length, data, at, task, /g, "data.length, data, at, 1, "],
        foundBy: "log",
      },
    ],
    seconds: 20,
    faults: [],
    weights: { flow: 1, ask: 1, pause: 1, lock: 1 },
  },
};
