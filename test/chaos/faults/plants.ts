/**
 * Planted faults, which test the checker. Each replaces a few lines of one module in the memory of the processes of a
 * run. If the lines are not in the module any more, the process ends, and the plant must be updated.
 */
import type { Fault } from "./plan.ts";
import type { Check } from "../checks/violation.ts";
import type { Kind } from "../load/pipelines.ts";

export type PlantName = "skip-epoch-check" | "ack-before-commit" | "wall-clock-grace";

export type Plant = {
  /** Path of the module in the checkout. */
  readonly module: string;
  readonly replace: readonly (readonly [from: RegExp, to: string])[];
  /** A run that must find the fault: its length, its faults, its load and the check. */
  readonly seconds: number;
  readonly faults: readonly Fault[];
  readonly weights: Readonly<Partial<Record<Kind, number>>>;
  readonly foundBy: Check;
};

export const PLANTS: Readonly<Record<PlantName, Plant>> = {
  "skip-epoch-check": {
    module: "src/delegates/session/process-task-messages.ts",
    replace: [[/ \|\| row\.epoch !== message\.epoch/g, ""]],
    seconds: 12,
    faults: [
      { at: 4, seconds: 1, kind: "wrong epochs", target: "delegate-1" },
      { at: 8, seconds: 1, kind: "wrong epochs", target: "delegate-2" },
    ],
    weights: { long: 1 },
    foundBy: "log",
  },
  "ack-before-commit": {
    module: "src/triggers/webhooks/receive.ts",
    replace: [
      [
        /await insertDelivery\(([^()]*)\)/g,
        "(setTimeout(() => void insertDelivery($1).catch(() => undefined), 1_000), true)",
      ],
    ],
    seconds: 12,
    faults: [
      { at: 4, seconds: 1, kind: "kill", target: "server-a" },
      { at: 8, seconds: 1, kind: "kill", target: "server-b" },
    ],
    weights: { hook: 1 },
    foundBy: "accepted",
  },
  "wall-clock-grace": {
    module: "src/delegates/session/silence-tracker.ts",
    replace: [
      [
        /holders\.filter\(\(\{ delegateId \}\) => now - .* > LOST_AFTER_MS\)/g,
        "holders.filter(({ seenAt }) => Date.now() - seenAt > LOST_AFTER_MS)",
      ],
    ],
    seconds: 15,
    faults: [{ at: 5, seconds: 0, kind: "clock", target: "server-b", minutes: 60 }],
    weights: { long: 1 },
    foundBy: "outcome",
  },
};
