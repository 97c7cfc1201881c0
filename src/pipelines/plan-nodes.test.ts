import assert from "node:assert/strict";
import { test } from "node:test";
import type { Effect, Event, InstanceId, NodeState, Plan } from "../engine/index.ts";
import { parseDocument } from "../platform/document/document.ts";
import { validate } from "../platform/document/validate.ts";
import { engine } from "../steps/engine.ts";
import { pipelineSchema } from "./document/schema.ts";
import { buildPlan, type Facts } from "./plan.ts";

const schema = pipelineSchema("merged");

const FACTS: Facts = {
  account: { identifier: "acme" },
  org: { identifier: "default" },
  project: { identifier: "shop", name: "Shop" },
  execution: { id: "e", sequenceId: 1, startTs: 0, triggerType: "MANUAL", triggeredBy: { name: "Ada", email: "a@x" } },
  trigger: null,
};

const step = (identifier: string, more = ""): string =>
  `{step: {type: ShellScript, name: ${identifier}, identifier: ${identifier}${more}, spec: {shell: Bash, source: {type: Inline, spec: {script: "echo <+step.name>"}}}}}`;

const stage = (identifier: string, steps: readonly string[], more = "", rollback: readonly string[] = []): string =>
  `{stage: {name: ${identifier}, identifier: ${identifier}, type: Custom${more}, spec: {execution: {steps: [${steps.join(", ")}], rollbackSteps: [${rollback.join(", ")}]}}}}`;

const group = (identifier: string, steps: readonly string[], more = ""): string =>
  `{stepGroup: {name: ${identifier}, identifier: ${identifier}${more}, steps: [${steps.join(", ")}]}}`;

const parallel = (items: readonly string[]): string => `{parallel: [${items.join(", ")}]}`;

function planOf(stages: readonly string[], more = ""): Plan {
  const text = `{pipeline: {name: Release, identifier: release${more}, stages: [${stages.join(", ")}]}}`;
  const document = validate(schema, parseDocument(text), { root: "pipeline" });
  let last = 0;
  return buildPlan({ document, authored: document }, FACTS, () => `n${(last += 1)}`);
}

type Task = Extract<Effect, { kind: "enqueueTask" }>;

/** Runs a plan; `exitCode` says how the tasks of a node end. Answers the names of the nodes of the tasks, those at once together. */
function run(plan: Plan, exitCode: (path: string, attempt: number) => number = () => 0) {
  let state = engine.initialState(plan);
  const nodes = new Map<InstanceId, NodeState>();
  const rounds: string[][] = [];
  let at = 0;
  let tasks: readonly Task[] = [];
  const give = (event: Event): readonly Task[] => {
    const next = engine.step(plan, { state, nodes }, event);
    state = next.state;
    for (const [id, node] of next.changed) nodes.set(id, node);
    const timers = next.effects.flatMap((effect) =>
      effect.kind === "startTimer" && effect.purpose === "retry" ? [{ ...effect, kind: "timerFired" as const }] : [],
    );
    const own = next.effects.filter((effect) => effect.kind === "enqueueTask");
    return [...own, ...timers.flatMap((timer) => give(timer))];
  };
  tasks = give({ kind: "started", at });
  while (tasks.length > 0) {
    const pathOf = (id: InstanceId): string => nodes.get(id)?.path ?? "";
    rounds.push(tasks.map(({ node }) => pathOf(node).replace(/^.*?\/(?=[^/]*\/(?:steps|rollbackSteps)\/)/, "")));
    tasks = tasks.flatMap(({ node, attempt }) => {
      at += 1_000;
      const outcome = { kind: "exited" as const, exitCode: exitCode(pathOf(node), attempt), outputs: [] };
      return give({ kind: "taskEnded", at, node, attempt, outcome });
    });
  }
  return { rounds, status: state.status, nodes };
}

test("parallel steps, groups and stages start together", () => {
  const plan = planOf([
    stage("build", [step("first"), parallel([step("a"), group("g", [step("b"), step("c")])]), step("last")]),
    parallel([stage("east", [step("e")]), stage("west", [step("w")])]),
  ]);
  assert.deepEqual(run(plan).rounds, [
    ["build/steps/first"],
    ["build/steps/parallel-1/a", "build/steps/parallel-1/g/b"],
    ["build/steps/parallel-1/g/c"],
    ["build/steps/last"],
    ["east/steps/e", "west/steps/w"],
  ]);
});

const failing =
  (...paths: readonly string[]) =>
  (path: string): number =>
    paths.some((one) => path.endsWith(one)) ? 1 : 0;

test("a loop runs its node for each combination, and as many at once as it says", () => {
  const matrix = ", strategy: {matrix: {os: [linux, mac], version: ['1', '2'], exclude: [{os: mac, version: '1'}]}}";
  const repeat = ", strategy: {repeat: {items: [x, y, z], maxConcurrency: 2}}";
  const plan = planOf([
    stage("build", [step("m", matrix), group("g", [step("r", repeat)], ", strategy: {parallelism: 2}")]),
  ]);
  const { rounds } = run(plan);
  assert.equal(rounds[0]?.length, 3);
  assert.equal(rounds[1]?.length, 4, "two iterations of the group, two items of each");
  assert.equal(rounds.flat().length, 3 + 2 * 3);
});

test("a condition looks at what was before the node, and at an expression", () => {
  const when = (text: string): string => `, when: ${text}`;
  const plan = planOf([
    stage("build", [
      step("breaks"),
      step("skipped"),
      step("cleanup", when("{stageStatus: Failure}")),
      step("always", when("{stageStatus: All, condition: '<+pipeline.name> == \"Release\"'}")),
      step("never", when("{stageStatus: All, condition: '<+pipeline.name> == \"Other\"'}")),
    ]),
    stage("deploy", [step("d")]),
    stage("report", [step("r")], when("{pipelineStatus: All}")),
  ]);
  assert.deepEqual(run(plan, failing("breaks")).rounds, [
    ["build/steps/breaks"],
    ["build/steps/cleanup"],
    ["build/steps/always"],
    ["report/steps/r"],
  ]);
});

const onFailure = (action: string, errors = "AllErrors"): string =>
  `, failureStrategies: [{onFailure: {errors: [${errors}], action: ${action}}}]`;

test("the strategy of a step stands before those of its group and its stage", () => {
  const retry = onFailure(
    "{type: Retry, spec: {retryCount: 2, retryIntervals: [5s], onRetryFailure: {action: {type: Ignore}}}}",
  );
  const plan = planOf([
    stage("build", [step("flaky", retry), step("next")], onFailure("{type: StageRollback}"), [step("undo")]),
  ]);
  const twice = run(plan, (path, attempt) => (path.endsWith("flaky") && attempt < 3 ? 1 : 0));
  assert.deepEqual(twice.rounds.flat(), [...Array(3).fill("build/steps/flaky"), "build/steps/next"]);
  assert.equal(twice.status, "succeeded");
  const ignored = run(plan, failing("flaky"));
  assert.equal(ignored.rounds.flat().length, 4);
  assert.equal(ignored.status, "ignored");
  const rolledBack = run(plan, failing("next"));
  assert.deepEqual(rolledBack.rounds.flat(), ["build/steps/flaky", "build/steps/next", "build/rollbackSteps/undo"]);
  assert.equal(rolledBack.status, "failed");
});

test("a step group is rolled back, and the pipeline in reverse", () => {
  const undone = group(
    "g",
    [step("breaks")],
    `, rollbackSteps: [${step("undo")}]${onFailure("{type: StepGroupRollback}")}`,
  );
  assert.deepEqual(run(planOf([stage("build", [undone])]), failing("breaks")).rounds.at(-1)?.length, 1);
  const back = onFailure("{type: PipelineRollback}");
  const plan = planOf([
    stage("one", [step("a")], "", [step("u1")]),
    stage("two", [step("b")], "", [step("u2")]),
    stage("three", [step("c")], back, [step("u3")]),
  ]);
  const { rounds } = run(plan, failing("c"));
  assert.deepEqual(
    rounds.flat().map((path) => path.split("/").at(-1)),
    ["a", "b", "c", "u3", "u2", "u1"],
  );
});

test("each level has its timeout, a step ten minutes where it says nothing", () => {
  const plan = planOf(
    [stage("build", [group("g", [step("a"), step("b", ", timeout: 30s")], ", timeout: 5m")], ", timeout: 1h")],
    ", timeout: 2h",
  );
  const found = Object.values(plan.nodes).flatMap((node) =>
    "timeoutMs" in node ? [`${node.kind} ${node.identifier} ${node.timeoutMs}`] : [],
  );
  assert.deepEqual(found, [
    "pipeline release 7200000",
    "stage build 3600000",
    "group g 300000",
    "step a 600000",
    "step b 30000",
  ]);
});

test("a step takes the selectors of the nearest level that has any", () => {
  const selectors = (tag: string): string => `, delegateSelectors: [${tag}]`;
  const plan = planOf([
    stage("build", [group("g", [step("a")], selectors("of_group")), step("b")], selectors("of_stage")),
  ]);
  const found = Object.values(plan.nodes).flatMap((node) => (node.kind === "step" ? [node.selectors] : []));
  assert.deepEqual(found, [["of_group"], ["of_stage"]]);
});

test("variables of a group are evaluated at the start and seen by its steps", () => {
  const variables = ', variables: [{name: tag, type: String, value: "<+pipeline.name>-1"}]';
  const plan = planOf([
    stage("build", [
      group(
        "g",
        [step("a", ", when: {stageStatus: Success, condition: '<+stepGroup.variables.tag> == \"Release-1\"'}")],
        variables,
      ),
    ]),
  ]);
  assert.deepEqual(run(plan).rounds.flat().length, 1);
});
