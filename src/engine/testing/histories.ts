import type { Event, Plan } from "../model.ts";
import { abort, cancelled, ended, exited, fired, lost, planOf, started } from "./plans.ts";

/** What is recorded in `histories/<name>.json` when recording is asked for; see `histories.test.ts`. */
export type Scenario = { readonly name: string; readonly plan: Plan; readonly events: readonly Event[] };

const outputOf = (stage: string, step: string, name: string): string =>
  `<+pipeline.stages.${stage}.spec.execution.steps.${step}.output.outputVariables.${name}>`;

const release = planOf(
  [
    {
      id: "build",
      rollsBack: true,
      steps: [
        {
          id: "compile",
          env: [
            ["REF", "<+trigger.payload.ref>"],
            ["NAME", "<+pipeline.name>-<+stage.name>"],
          ],
        },
        {
          id: "pack",
          env: [["VERSION", "<+execution.steps.compile.output.outputVariables.version>"]],
          timeoutMs: 60_000,
        },
      ],
      rollback: [{ id: "clean", env: [["WHY", "<+stage.currentStatus> <+steps.pack.status>"]] }, { id: "tell" }],
    },
    {
      id: "deploy",
      steps: [
        {
          id: "roll",
          env: [
            ["VERSION", outputOf("build", "compile", "version")],
            ["DRY", "<+<+trigger.payload.ref> != 'main'>"],
          ],
        },
      ],
      rollback: [{ id: "undo" }],
    },
  ],
  { trigger: { type: "Custom", payload: { ref: "main", "x-y": [1, 2] } } },
);

const T = 1_790_000_000_000;
const compiled = ended(T + 1_000, "compile", exited(0, { version: "1.2.3", note: "$(date) <+pipeline.name>" }));

export const SCENARIOS: readonly Scenario[] = [
  {
    name: "success-with-outputs",
    plan: release,
    events: [
      started(T),
      compiled,
      ended(T + 2_000, "pack", exited(0)),
      ended(T + 3_000, "roll", exited(0, { url: "https://example.test/" })),
    ],
  },
  {
    name: "failure-with-rollback",
    plan: release,
    events: [
      started(T),
      compiled,
      ended(T + 2_000, "pack", exited(2)),
      ended(T + 3_000, "clean", exited(0)),
      ended(T + 4_000, "tell", exited(0)),
    ],
  },
  {
    name: "failure-in-rollback",
    plan: release,
    events: [started(T), ended(T + 1_000, "compile", exited(139)), ended(T + 2_000, "clean", exited(1))],
  },
  {
    name: "failure-without-strategy",
    plan: release,
    events: [started(T), compiled, ended(T + 2_000, "pack", exited(0)), ended(T + 3_000, "roll", exited(1))],
  },
  {
    name: "timeout-with-rollback",
    plan: release,
    events: [
      started(T),
      compiled,
      fired(T + 61_000, "pack"),
      fired(T + 61_001, "pack"),
      ended(T + 63_000, "pack", cancelled(0)),
      ended(T + 64_000, "clean", exited(0)),
      ended(T + 65_000, "tell", exited(0)),
    ],
  },
  {
    name: "timeout-without-strategy",
    plan: release,
    events: [
      started(T),
      compiled,
      ended(T + 2_000, "pack", exited(0)),
      fired(T + 602_000, "roll"),
      ended(T + 603_000, "roll", cancelled(1)),
    ],
  },
  {
    name: "timeout-after-success",
    plan: release,
    events: [
      started(T),
      compiled,
      fired(T + 61_000, "pack"),
      ended(T + 61_500, "pack", exited(0)),
      ended(T + 62_000, "roll", exited(0)),
    ],
  },
  {
    name: "abort",
    plan: release,
    events: [
      started(T),
      compiled,
      abort(T + 1_500),
      abort(T + 1_600),
      ended(T + 2_000, "pack", cancelled(0)),
      abort(T + 3_000),
    ],
  },
  {
    name: "abort-in-rollback",
    plan: release,
    events: [
      started(T),
      ended(T + 1_000, "compile", exited(1)),
      abort(T + 1_500),
      ended(T + 2_000, "clean", cancelled(0)),
    ],
  },
  { name: "abort-before-start", plan: release, events: [abort(T), started(T + 1)] },
  {
    name: "lost-delegate",
    plan: release,
    events: [
      started(T),
      compiled,
      ended(T + 2_000, "compile", exited(0)),
      ended(T + 2_500, "pack", exited(0), 2),
      ended(T + 3_000, "pack", lost("Its delegate restarted and no longer knows the task")),
      ended(T + 4_000, "clean", exited(0)),
      ended(T + 5_000, "tell", exited(0)),
    ],
  },
  {
    name: "expression-failure",
    plan: release,
    // The output that the second step reads was never set by the first.
    events: [
      started(T),
      ended(T + 1_000, "compile", exited(0, { other: "1" })),
      ended(T + 2_000, "clean", exited(0)),
      ended(T + 3_000, "tell", exited(0)),
    ],
  },
];
