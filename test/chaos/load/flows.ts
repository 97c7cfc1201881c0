/** Pipelines of the load with parallel nodes, groups, loops, retries, conditions, approvals, waiting steps and locks. */
import { ORGANIZATION, pipeline, PROJECT, stage } from "../../support/clients/pipeline.ts";
import {
  type FlowKind,
  type KindPlan,
  lines,
  type Places,
  recordedScript,
  shellStep,
  type StepPlan,
  TIMEOUT_SECONDS,
} from "./kinds.ts";

export const NUMBER = "<+pipeline.variables.number>";
export const APPROVERS = ["approver_1", "approver_2", "approver_3"] as const;
export const MINIMUM_COUNT = 2;
export const RETRY_SECONDS = 2;
const WAIT_SECONDS = 10;
/** Longer than clients need for a decision in an outage. */
const DECISION_TIMEOUT = "90s";

type Sketch = Pick<StepPlan, "identifier"> & Partial<Omit<StepPlan, "script">> & { readonly body?: readonly string[] };

/** A step without a task. */
const served = (identifier: string, ends: StepPlan["ends"]): StepPlan => ({
  ...{ identifier, script: "", text: () => "", ends, isServed: true },
});
const waitOf = (identifier: string, duration: string): object => ({
  step: { type: "Wait", name: identifier, identifier, spec: { duration } },
});
const group = (identifier: string, steps: readonly object[], fields: object = {}): object => ({
  stepGroup: { name: identifier, identifier, ...fields, steps },
});
const custom = (identifier: string, steps: readonly object[], fields: object = {}): object => ({
  stage: { name: identifier, identifier, type: "Custom", ...fields, spec: { execution: { steps } } },
});
const onFailure = (action: object): object => ({
  failureStrategies: [{ onFailure: { errors: ["AllErrors"], action } }],
});
const skipped = (identifier: string): StepPlan => ({
  ...{ identifier, script: "exit 9", text: () => "", ends: "skipped" },
});

export function createFlows({ starts }: Places): Readonly<Record<FlowKind, KindPlan>> {
  /** Prints its name; `key` may hold variables of the shell. */
  const simple = ({ identifier, body = [], ...fields }: Sketch, key: string = identifier): StepPlan => ({
    identifier,
    script: recordedScript(starts, key, `echo "run $NUMBER ${identifier.replace(/[[#].*/, "")}"`, ...body),
    text: (number) => `run ${number} ${identifier.replace(/[[#].*/, "")}\n`,
    ends: "succeeded",
    isRequired: true,
    ...fields,
  });
  const flow = flowOf(starts, simple);
  return {
    flow,
    cut: {
      ...flow,
      steps: flow.steps.map((step) => ({ ...step, isRequired: false })),
      ...{ ends: "aborted", client: "abort" },
    },
    regroup: regroupOf(starts, simple),
    ask: askOf(simple),
    decide: decideOf(simple),
    pause: pauseOf(simple),
    undo: undoOf(simple),
    overdue: overdueOf(starts),
    lock: lockOf(simple),
    chain: chainOf(starts, simple),
  };
}

type Simple = (sketch: Sketch, key?: string) => StepPlan;

const CELLS = ["x1", "x2", "y1", "y2", "z1"];

/** Two stages at the same time: a matrix beside a group with retries and a loop, and a wait. Then another stage. */
function flowOf(starts: string, simple: Simple): KindPlan {
  const cells = CELLS.map((cell, index): StepPlan => ({
    identifier: `cell[${index}]`,
    script: recordedScript(starts, "cell[$ITERATION]", 'echo "run $NUMBER cell $CELL"', "sleep 0.3"),
    env: { CELL: "<+matrix.letter><+matrix.digit>", ITERATION: "<+strategy.iteration>" },
    text: (number) => `run ${number} cell ${cell}\n`,
    ends: "succeeded",
    isRequired: true,
  }));
  const matrix = {
    ...{ letter: ["x", "y", "z"], digit: ["1", "2"], exclude: [{ letter: "z", digit: "2" }], maxConcurrency: 2 },
  };
  const tries = [0, 1, 2, 3].map((n): StepPlan => ({
    identifier: n === 0 ? "flaky" : `flaky#${n + 1}`,
    script: recordedScript(
      starts,
      'flaky$([ $TRY = 0 ] || echo "#$((TRY + 1))")',
      'for i in {1..20}; do echo "run $NUMBER try $TRY line $i"; done',
      "[ $TRY -ge 2 ] || exit 7",
    ),
    env: { TRY: "<+steps.checks.steps.flaky.retryCount>" },
    text: (number) => lines(20, (line) => `run ${number} try ${n} line ${line}`),
    ends: n < 2 ? "failed" : "succeeded",
    isRequired: n < 3,
    ...(n > 0 && { after: { identifier: n === 1 ? "flaky" : `flaky#${n}`, seconds: RETRY_SECONDS } }),
  }));
  const parts = [0, 1].map((n): StepPlan => ({
    ...simple({ identifier: `inner[${n}]/part`, env: { ITERATION: "<+strategy.iteration>" } }),
    script: recordedScript(starts, "inner[$ITERATION]/part", 'echo "run $NUMBER part $ITERATION"'),
    text: (number) => `run ${number} part ${n}\n`,
    after: { identifier: "lint", seconds: 0.4 },
  }));
  const lint = simple({ identifier: "lint", body: ["sleep 0.4"] });
  const always = simple({ identifier: "always", after: { identifier: "lint", seconds: 0.4 } });
  const begin = simple({ identifier: "begin" });
  const later = simple({ identifier: "later", after: { identifier: "begin", seconds: WAIT_SECONDS } });
  const last = simple({ identifier: "last", after: { identifier: "begin", seconds: WAIT_SECONDS } });
  const never = skipped("never");
  const retry = onFailure({ type: "Retry", spec: { retryCount: 3, retryIntervals: [`${RETRY_SECONDS}s`] } });
  const [cell, flaky, part] = [cells[0], tries[0], parts[0]] as [StepPlan, StepPlan, StepPlan];
  const checks = group("checks", [
    shellStep(lint, NUMBER),
    { parallel: [shellStep(flaky, NUMBER, retry), loopOf("inner", shellStep(part, NUMBER))] },
  ]);
  const left = custom("left", [
    { parallel: [shellStep(cell, NUMBER, { strategy: { matrix } }), checks] },
    shellStep(never, NUMBER, { when: { stageStatus: "Failure" } }),
    shellStep(always, NUMBER, { when: { stageStatus: "All" } }),
  ]);
  const right = custom("right", [
    shellStep(begin, NUMBER),
    waitOf("rest", `${WAIT_SECONDS}s`),
    shellStep(later, NUMBER),
  ]);
  const steps = [...cells, ...tries, ...parts, lint, always, begin, later, last, never, served("rest", "succeeded")];
  return {
    ...{ steps, rollback: [], ends: "succeeded" },
    stages: [{ parallel: [left, right] }, stage("end", [shellStep(last, NUMBER)])],
  };
}

const loopOf = (identifier: string, step: object): object =>
  group(identifier, [step], { strategy: { repeat: { times: 2 } } });

/** A group that is run again, with new instances of its steps, because the second one fails at first. */
function regroupOf(starts: string, simple: Simple): KindPlan {
  const first = simple({ identifier: "first" });
  const second = simple({
    identifier: "second",
    ends: ["failed", "succeeded"],
    body: [`[ "$(grep -c "^$NUMBER second " ${starts})" -gt 1 ] || exit 7`],
  });
  const done = simple({ identifier: "done", after: { identifier: "first", seconds: RETRY_SECONDS } });
  const spec = { retryCount: 4, retryIntervals: [`${RETRY_SECONDS}s`] };
  const fields = onFailure({ type: "RetryStepGroup", spec });
  const again = group("again", [shellStep(first, NUMBER), shellStep(second, NUMBER)], fields);
  return {
    ...{ steps: [first, second, done], rollback: [], ends: "succeeded" },
    stages: [custom("only", [again, shellStep(done, NUMBER)])],
  };
}

/** Three approve or reject at once; two approvals are enough, and one rejection rejects. */
function askOf(simple: Simple): KindPlan {
  const [before, afterwards] = [simple({ identifier: "before" }), simple({ identifier: "afterwards" })];
  const approvers = {
    userGroups: [],
    serviceAccounts: APPROVERS.map((name) => `account.${name}`),
    ...{ minimumCount: MINIMUM_COUNT, disallowPipelineExecutor: false },
  };
  const ask = {
    step: {
      ...{ type: "PlatformApproval", name: "ask", identifier: "ask", timeout: DECISION_TIMEOUT },
      spec: { approvalMessage: `Release ${NUMBER}?`, includePipelineExecutionHistory: true, approvers },
    },
  };
  const asking = custom("asking", [shellStep(before, NUMBER), ask]) as { readonly stage: object };
  return {
    steps: [before, afterwards, served("ask", ["succeeded", "rejected", "expired"])],
    ...{ rollback: [], ends: ["succeeded", "rejected", "expired"], client: "approve" },
    stages: [{ stage: { ...asking.stage, type: "Approval" } }, stage("release", [shellStep(afterwards, NUMBER)])],
  };
}

/** A failed step waits for a decision; two clients decide at once. */
function decideOf(simple: Simple): KindPlan {
  const broken = simple({ identifier: "broken", body: ["exit 7"], ends: ["failed", "succeeded", "ignored"] });
  const afterwards = simple({ identifier: "afterwards" });
  const spec = { timeout: DECISION_TIMEOUT, onTimeout: { action: { type: "MarkAsFailure" } } };
  const fields = onFailure({ type: "ManualIntervention", spec });
  return {
    ...{ steps: [broken, afterwards], rollback: [], ends: ["succeeded", "ignored", "failed"], client: "decide" },
    stages: [custom("only", [shellStep(broken, NUMBER, fields), shellStep(afterwards, NUMBER)])],
  };
}

/** A client pauses it, and resumes it. */
function pauseOf(simple: Simple): KindPlan {
  const steps = ["a", "b", "c", "d", "e", "f"].map((name) => simple({ identifier: name, body: ["sleep 0.4"] }));
  return {
    ...{ steps, rollback: [], ends: "succeeded", client: "pause" },
    stages: [
      custom(
        "one",
        steps.slice(0, 4).map((step) => shellStep(step, NUMBER)),
      ),
      custom("two", [{ parallel: steps.slice(4).map((step) => shellStep(step, NUMBER)) }]),
    ],
  };
}

/** The second stage fails: both are rolled back, the second one first. */
function undoOf(simple: Simple): KindPlan {
  const [one, broken] = [
    simple({ identifier: "one" }),
    simple({ identifier: "broken", body: ["exit 7"], ends: "failed" }),
  ];
  const undoTwo = simple({ identifier: "undo_two", body: ["sleep 0.4"] });
  const undoOne = simple({ identifier: "undo_one", after: { identifier: "undo_two", seconds: 0.4 } });
  const first = stage("first", [shellStep(one, NUMBER)], [shellStep(undoOne, NUMBER)]);
  const second = stage("second", [shellStep(broken, NUMBER)], [shellStep(undoTwo, NUMBER)]) as { stage: object };
  return {
    ...{ steps: [one, broken], rollback: [undoOne, undoTwo], ends: "failed" },
    stages: [first, { stage: { ...second.stage, ...onFailure({ type: "PipelineRollback" }) } }],
  };
}

/** The timeout of a stage ends what runs and waits below it. */
function overdueOf(starts: string): KindPlan {
  const ticks = 300;
  const slow: StepPlan = {
    identifier: "slow",
    script: recordedScript(
      starts,
      "slow",
      `for ((i = 1; i <= ${ticks}; i++)); do echo "run $NUMBER $i"; sleep 1; done`,
    ),
    text: (number) => lines(ticks, (n) => `run ${number} ${n}`),
    ends: "expired",
  };
  const steps = [{ parallel: [shellStep(slow, NUMBER), waitOf("rest", "1h")] }, shellStep(skipped("never"), NUMBER)];
  return {
    ...{ steps: [slow, served("rest", "expired"), skipped("never")], rollback: [], ends: "expired" },
    stages: [custom("only", steps, { timeout: `${TIMEOUT_SECONDS}s` })],
  };
}

/** All executions of this kind ask for one lock, and keep it until the end of their first stage. */
function lockOf(simple: Simple): KindPlan {
  const inside = simple({ identifier: "inside", body: ["sleep 1.5"] });
  const outside = simple({ identifier: "outside" });
  const queue = {
    step: { type: "Queue", name: "mutex", identifier: "mutex", timeout: "10m", spec: { key: "chaos", scope: "Stage" } },
  };
  return {
    ...{ steps: [inside, outside, served("mutex", "succeeded")], rollback: [], ends: "succeeded" },
    stages: [custom("locked", [queue, shellStep(inside, NUMBER)]), custom("free", [shellStep(outside, NUMBER)])],
  };
}

/** Runs another pipeline twice, one after the other, and reads what it puts out. */
function chainOf(starts: string, simple: Simple): KindPlan {
  const letters = ["p", "q"];
  const leaves = letters.map((letter, n): StepPlan => ({
    identifier: `call[${n}]/leaf`,
    script: recordedScript(starts, "call[$CALL]/leaf", 'echo "run $NUMBER leaf $LETTER"', 'leaf="$LETTER $NUMBER"'),
    env: { LETTER: "<+pipeline.variables.letter>", CALL: "<+pipeline.variables.call>" },
    outputs: ["leaf"],
    text: (number) => `run ${number} leaf ${letter}\n`,
    ends: "succeeded",
    isRequired: true,
    ...(n > 0 && { after: { identifier: "call[0]/leaf", seconds: 0 } }),
  }));
  const read: StepPlan = {
    ...simple({ identifier: "read" }),
    script: recordedScript(starts, "read", 'echo "run $NUMBER got $FIRST and $SECOND"'),
    env: { FIRST: "<+pipeline.stages.call_0.output.leaf>", SECOND: "<+pipeline.stages.call_1.output.leaf>" },
    text: (number) => `run ${number} got p ${number} and q ${number}\n`,
  };
  const inputs = { number: NUMBER, letter: "<+matrix.letter>", call: "<+strategy.iteration>" };
  const variables = (values: Readonly<Record<string, string>>): readonly object[] =>
    Object.entries(values).map(([name, value]) => ({ name, type: "String", value }));
  const call = {
    ...{ name: "call", identifier: "call", type: "Pipeline" },
    strategy: { matrix: { letter: letters, maxConcurrency: 1 } },
    spec: {
      ...{ org: ORGANIZATION, project: PROJECT, pipeline: "child" },
      inputs: { identifier: "child", variables: variables(inputs) },
      outputs: [
        { name: "leaf", value: "<+pipeline.stages.only.spec.execution.steps.leaf.output.outputVariables.leaf>" },
      ],
    },
  };
  const child = pipeline("child", [custom("only", [shellStep(leaves[0] as StepPlan, NUMBER)])]);
  const asked = variables({ number: "<+input>", letter: "<+input>", call: "<+input>" });
  return {
    ...{ steps: [...leaves, read], rollback: [], ends: "succeeded" },
    stages: [{ stage: call }, custom("end", [shellStep(read, NUMBER)])],
    chained: { pipeline: { ...child.pipeline, variables: asked } },
  };
}
