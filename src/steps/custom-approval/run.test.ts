/** CustomApproval steps: what their criteria come to, and when the script runs again. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { scopeOf } from "../../engine/expression/testing/sample-scope.ts";
import { createEngine, type Json, type Output, type StepAttempt, type StepNode } from "../../engine/index.ts";
import { ended, initial, lost, planOf, started } from "../../engine/testing/plans.ts";
import { areMet, type CriteriaSpec } from "./criteria.ts";
import { plan } from "./plan.ts";
import { run } from "./run.ts";
import { customApproval } from "./schema.ts";

const home = { orgIdentifier: "default", projectIdentifier: "shop", environmentRef: "" };
const scope = scopeOf({ pipeline: { name: "Shop", wanted: "a, b" } });
const jexl = (expression: string): CriteriaSpec => ({ type: "Jexl", spec: { expression } });

const SPEC = {
  shell: "Bash",
  source: { type: "Inline", spec: { script: "state=$(cat /state)" } },
  retryInterval: "30s",
  scriptTimeout: "20s",
  outputVariables: [{ name: "state", type: "String", value: "state" }],
  approvalCriteria: jexl('<+output.outputVariables.state> == "ok"'),
  rejectionCriteria: jexl('<+output.outputVariables.state> == "no"'),
};

function attemptOf(progress: Json, { spec = {}, timeoutMs = 3_600_000 } = {}): StepAttempt {
  const read = customApproval("merged").parse({ ...SPEC, ...spec });
  const work = plan(read, { identifier: "ask", home, hasCluster: true, withSecrets: (text) => text });
  const step = { timeoutMs, selectors: ["office"], work } as unknown as StepNode;
  const attempt = { progress } as StepAttempt["attempt"];
  return { step, name: "Ask", at: 1_000, number: 1, attempt, scope: () => scope };
}

const left = (state: string): readonly Output[] => [{ name: "state", value: state }];
const exited = (exitCode: number, outputs: readonly Output[] = []) =>
  ({ kind: "taskEnded", outcome: { kind: "exited", exitCode, outputs } }) as const;

test("the script runs with a limit of its own, and its cluster is none", () => {
  const action = run.begin(attemptOf(null));
  assert.equal(action.kind, "runTask");
  assert.deepEqual([action.selectors, action.until, action.progress], [["office"], 21_000, { runs: 1 }]);
  const outputs = [{ name: "state", variable: "state" }];
  assert.deepEqual(action.work, { kind: "shell", script: "state=$(cat /state)", env: [], outputs });
});

test("what it leaves approves, rejects, or lets it run again", () => {
  const received = (state: string) => run.receive(attemptOf({ runs: 3 }), exited(0, left(state)));
  assert.deepEqual(received("ok"), { kind: "end", status: "succeeded", exitCode: 0, outputs: left("ok") });
  const rejected = received("no");
  assert.equal(rejected.kind, "end");
  assert.deepEqual([rejected.status, rejected.failure?.types], ["rejected", ["ApprovalRejection"]]);
  const waits = received("open");
  assert.equal(waits.kind, "wait");
  assert.equal(waits.until, 31_000);
  const next = new Date(31_000).toISOString();
  const message = `Waits for its approval criteria: run 3 of the script met no criteria. The next run begins at ${next}.`;
  assert.deepEqual(waits.reason, { kind: "approval", message });
});

test("a run that fails, is lost or takes too long is followed by another one", () => {
  for (const [signal, why] of [
    [exited(7, left("ok")), "exited with code 7"],
    [{ kind: "taskLost", message: "Its delegate was lost." }, "was lost: Its delegate was lost."],
    [{ kind: "taskOverdue" }, "did not end within its scriptTimeout of 20 s"],
  ] as const) {
    const action = run.receive(attemptOf({ runs: 1 }), signal);
    assert.equal(action.kind, "wait");
    assert.ok(action.reason.message.includes(`run 1 of the script ${why}. The next`), action.reason.message);
  }
  const again = run.receive(attemptOf({ runs: 1 }), { kind: "timerFired" });
  assert.deepEqual(again.kind === "runTask" && again.progress, { runs: 2 });
});

test("more runs than are kept are refused before the first", () => {
  const action = run.begin(attemptOf(null, { timeoutMs: 10_001 * 30_000 }));
  assert.equal(action.kind, "end");
  assert.deepEqual(action.failure?.types, ["ConfigurationFailure"]);
  assert.match(action.failure?.message ?? "", /come to 10001 runs of the script; at most 10000 are allowed$/);
  assert.equal(run.begin(attemptOf(null, { timeoutMs: 10_000 * 30_000 })).kind, "runTask");
});

test("criteria compare output variables", () => {
  const met = (operator: string, value: string, found: string): boolean =>
    areMet(
      { type: "KeyValues", spec: { conditions: [{ key: "state", operator, value }] } } as CriteriaSpec,
      left(found),
      scope,
    );
  assert.deepEqual([met("equals", "a", "a"), met("equals", "a", "b"), met("equals", "a", "a ")], [true, false, false]);
  assert.deepEqual([met("not equals", "a", "a"), met("not equals", "a", "b")], [false, true]);
  assert.deepEqual(
    [met("in", "a, b", "b"), met("in", "<+pipeline.wanted>", "a"), met("in", "a,b", "c")],
    [true, true, false],
  );
  assert.deepEqual([met("not in", "a,b", "b"), met("not in", "a,b", "c")], [false, true]);
  const conditions = [
    { key: "state", operator: "equals", value: "a" },
    { key: "other", operator: "equals", value: "" },
    { key: "state", operator: "equals", value: "b" },
  ] as const;
  const several = (matchAnyCondition: boolean | null): boolean =>
    areMet({ type: "KeyValues", spec: { matchAnyCondition, conditions } }, left("a"), scope);
  assert.deepEqual([several(true), several(false), several(null)], [true, false, false]);
  assert.throws(() => areMet(jexl("<+output.outputVariables.other> == 1"), left("a"), scope), /other/);
  assert.throws(() => areMet(jexl("<+output.outputVariables.state>"), left("a"), scope), /state/);
});

test("the engine lets a step wait for its next run when the delegate of one is lost", () => {
  const sketch = planOf([{ id: "s", steps: [{ id: "ask" }] }]);
  const node = sketch.nodes["ask"];
  assert.ok(node?.kind === "step");
  const { step } = attemptOf(null);
  const plan = { ...sketch, nodes: { ...sketch.nodes, ask: { ...node, type: "CustomApproval", work: step.work } } };
  const engine = createEngine(new Map([["CustomApproval", run]]));
  const first = engine.step(plan, initial(plan), started(0));
  const second = engine.step(plan, { state: first.state, nodes: first.changed }, ended(1, "ask", lost()));
  assert.deepEqual([second.changed.get("ask")?.status, second.state.status], ["waiting", "approvalWaiting"]);
});
