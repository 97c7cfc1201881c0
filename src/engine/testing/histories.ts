import type { Event, Plan } from "../model.ts";
import {
  abort,
  cancelled,
  ended,
  type Execution,
  exited,
  fired,
  give,
  initial,
  interrupted,
  lost,
  planOf,
  started,
} from "./plans.ts";

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

const retries = { type: "Retry", count: 1, intervals: [1_000], fallback: { type: "Ignore" } } as const;
const decides = { type: "ManualIntervention", timeoutMs: 60_000, fallback: { type: "StageRollback" } } as const;
const matrix = {
  type: "matrix",
  axes: [{ name: "os", values: ["a", "b"] }],
  exclude: [],
  nodeName: "t-<+matrix.os>",
} as const;

const wide = planOf([
  {
    id: "test",
    timeoutMs: 3_600_000,
    steps: [
      {
        parallel: "both",
        steps: [
          { id: "lint", strategies: [{ errors: ["ApplicationError"], action: retries }] },
          {
            group: "units",
            timeoutMs: 60_000,
            rollback: [{ id: "sweep" }],
            steps: [{ id: "unit", env: [["OS", "<+matrix.os>"]], loop: { strategy: matrix, onFailure: "RunAll" } }],
          },
        ],
      },
      { id: "approve", type: "Pause", strategies: [{ errors: ["AllErrors"], action: decides }] },
    ],
    rollback: [{ id: "clean" }],
  },
  { id: "report", when: { status: "All" }, steps: [{ id: "send", env: [["S", "<+pipeline.stages.test.status>"]] }] },
]);

/** The events of a scenario; one of a repeated node names it by its path. */
function eventsOf(plan: Plan, events: readonly Event[]): readonly Event[] {
  let execution: Execution = initial(plan);
  return events.map((event) => {
    const named = [...execution.nodes.values()].find(({ path }) => "node" in event && path === event.node);
    const known = named ? { ...event, node: named.id } : event;
    execution = give(plan, execution, known);
    return known;
  });
}

const units = "p/test/steps/both/units/unit";

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
  {
    name: "parallel-matrix-retry-approval",
    plan: wide,
    events: eventsOf(wide, [
      started(T),
      ended(T + 100, "lint", exited(1)),
      ended(T + 200, `${units}/unit[0]`, exited(0)),
      fired(T + 1_100, "lint", "retry"),
      ended(T + 1_200, `${units}/unit[1]`, exited(0)),
      ended(T + 1_300, "lint", exited(1), 2),
      { kind: "answered", at: T + 1_400, node: "approve", answer: "approve" },
      ended(T + 1_500, "send", exited(0)),
    ]),
  },
  {
    name: "intervention-rollback-pause",
    plan: wide,
    events: eventsOf(wide, [
      started(T),
      interrupted(T + 50, "Pause"),
      ended(T + 100, "lint", exited(0)),
      ended(T + 200, `${units}/unit[0]`, exited(0)),
      interrupted(T + 250, "Resume"),
      ended(T + 300, `${units}/unit[1]`, exited(0)),
      { kind: "answered", at: T + 400, node: "approve", answer: "reject" },
      fired(T + 60_400, "approve", "intervention"),
      ended(T + 60_500, "clean", exited(0)),
      ended(T + 60_600, "send", exited(0)),
    ]),
  },
  {
    name: "group-timeout",
    plan: wide,
    events: eventsOf(wide, [
      started(T),
      fired(T + 60_000, "units"),
      ended(T + 60_100, `${units}/unit[0]`, cancelled(0)),
      ended(T + 60_200, `${units}/unit[1]`, cancelled(0)),
      interrupted(T + 60_300, "Abort", "lint"),
      ended(T + 60_400, "lint", cancelled(0)),
      ended(T + 60_500, "send", exited(0)),
    ]),
  },
];
