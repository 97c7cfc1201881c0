import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Problem } from "../core/problem.ts";
import {
  evaluateTemplate,
  type InstanceId,
  type NodeState,
  type Plan,
  type PlanNode,
  scopeFor,
  type ShellTemplate,
} from "../engine/index.ts";
import { engine } from "../steps/engine.ts";
import { readPipeline } from "./document/read.ts";
import { SAMPLE } from "./document/sample.ts";
import { fillIn } from "./inputs.ts";
import { buildPlan, type Facts } from "./plan.ts";

const FACTS: Facts = {
  account: { identifier: "acc" },
  org: { identifier: "default" },
  project: { identifier: "shop", name: "Shop" },
  execution: {
    id: "run1",
    sequenceId: 7,
    startTs: 1_000,
    triggerType: "WEBHOOK_CUSTOM",
    triggeredBy: { name: "hook", email: "hook@example.com" },
  },
  trigger: {
    type: "Custom",
    payload: { version: "2.0.0", note: "<+pipeline.name>", count: "12" },
    header: { "X-Event": "push" },
  },
};

function planOf(text: string, facts: Facts = FACTS, inputs?: string) {
  let made = 0;
  const projectIdentifier = /projectIdentifier: (\S+)/.exec(text)?.[1] ?? "";
  const { pipeline } = readPipeline(text, { orgIdentifier: "default", projectIdentifier });
  const { pipeline: document, authored } = fillIn(pipeline, inputs);
  return buildPlan({ document, authored }, facts, () => `n${made++}`);
}

type Change = readonly [piece: string, replacement: string];

const changed = (...pairs: Change[]): string =>
  pairs.reduce((text, [piece, replacement]) => {
    assert.ok(text.includes(piece), piece);
    return text.replace(piece, () => replacement);
  }, SAMPLE);

const byIdentifier = (nodes: { readonly [id: string]: PlanNode }, identifier: string): PlanNode => {
  const found = Object.values(nodes).find((node) => node.identifier === identifier);
  assert.ok(found, identifier);
  return found;
};

/** What an execution of the plan does first. */
/** Starts an execution whose stage gets its lock at once. */
function start(plan: Plan) {
  const before = { state: engine.initialState(plan), nodes: new Map<InstanceId, NodeState>() };
  const { state, changed, effects } = engine.step(plan, before, { kind: "started", at: 1 });
  const request = effects.find((effect) => effect.kind === "sendRequest");
  if (!request) return { state, changed, effects };
  return engine.step(plan, { state, nodes: changed }, { kind: "answered", at: 1, node: request.node, answer: null });
}

/** Variables of every step whose infrastructure is a cluster. */
const OF_CLUSTER = [
  { name: "PLATFORM_KUBE_NAMESPACE", value: "<+infra.namespace>" },
  { name: "PLATFORM_KUBE_RELEASE_NAME", value: "<+infra.releaseName>" },
];

test("the plan is the tree of pipeline, stage, groups and steps, each at its place", () => {
  const { root, nodes } = planOf(SAMPLE);
  const stage = ["pipeline", "stages", "deploy"];
  assert.deepEqual(nodes, {
    n0: {
      kind: "pipeline",
      id: "n0",
      identifier: "sample_deployment",
      name: "Sample deployment",
      path: ["pipeline"],
      children: ["n1"],
    },
    n1: {
      kind: "stage",
      type: "Deployment",
      id: "n1",
      identifier: "deploy",
      name: "Deploy",
      path: stage,
      steps: "n2",
      rollback: "n4",
      failureStrategies: [{ errors: ["AllErrors"], action: { type: "StageRollback" } }],
      lock: "project default/shop <+INFRA_KEY>",
    },
    n2: {
      kind: "group",
      role: "steps",
      id: "n2",
      identifier: "steps",
      name: "Execution",
      path: [...stage, "spec", "execution", "steps"],
      children: ["n3"],
    },
    n3: {
      kind: "step",
      type: "ShellScript",
      id: "n3",
      identifier: "greet",
      name: "Greet",
      path: [...stage, "spec", "execution", "steps", "greet"],
      timeoutMs: 600_000,
      selectors: [],
      work: { kind: "shell", script: 'echo "hello"\ngreeting=hello\n', env: OF_CLUSTER, outputs: [] },
    },
    n4: {
      kind: "group",
      role: "rollbackSteps",
      id: "n4",
      identifier: "rollbackSteps",
      name: "Rollback",
      path: [...stage, "spec", "execution", "rollbackSteps"],
      children: [],
    },
  });
  assert.equal(root, "n0");
});

test("timeouts are milliseconds, ten minutes when the step says nothing", () => {
  const timeout = (text: string): number | undefined => {
    const node = byIdentifier(planOf(text).nodes, "greet");
    return node.kind === "step" ? node.timeoutMs : undefined;
  };
  assert.equal(timeout(changed(["timeout: 10m", "timeout: 1h 30m"])), 5_400_000);
  assert.equal(timeout(changed(["timeout: 10m", "timeout:"])), 600_000);
});

test("the most specific level that has selectors counts alone", () => {
  const selectors = (...pairs: Change[]): readonly string[] => {
    const node = byIdentifier(planOf(changed(...pairs)).nodes, "greet");
    return node.kind === "step" ? node.selectors : [];
  };
  const pipeline = ["  tags: {}\n  stages", "  delegateSelectors: [p]\n  stages"] as const;
  const stage = ["        type: Deployment\n", "        type: Deployment\n        delegateSelectors: [s]\n"] as const;
  const onStep = ["onDelegate: true", "delegateSelectors: [a, b]"] as const;
  assert.deepEqual(selectors(pipeline), ["p"]);
  assert.deepEqual(selectors(pipeline, stage), ["s"]);
  assert.deepEqual(selectors(pipeline, stage, onStep), ["a", "b"]);
  assert.deepEqual(selectors(pipeline, stage, ["onDelegate: true", "delegateSelectors: []"]), ["s"]);
});

test("expressions of a script become variables of its environment", () => {
  const node = byIdentifier(
    planOf(
      changed(
        ['echo "hello"', 'echo "<+pipeline.name>"'],
        [
          "environmentVariables: []",
          "environmentVariables:\n                      - {name: N, type: Number, value: 5}",
        ],
        ["outputVariables: []", "outputVariables:\n                      - {name: out, type: String, value: greeting}"],
      ),
    ).nodes,
    "greet",
  );
  assert.ok(node.kind === "step");
  const work = node.work as ShellTemplate;
  assert.match(work.script, /^echo "\$\{?RAILHEAD_EXPR_1\}?"\n/);
  assert.deepEqual(work.env, [
    ...OF_CLUSTER,
    { name: "N", type: "Number", value: "5" },
    { name: "RAILHEAD_EXPR_1", value: "<+pipeline.name>" },
  ]);
  assert.deepEqual(work.outputs, [{ name: "out", variable: "greeting" }]);
});

test("expressions see the document by identifier and the facts of the run", () => {
  const plan = planOf(
    changed(
      [
        "  tags: {}\n  stages",
        "  tags: {team: web}\n  variables:\n    - {name: a, type: String, value: x}\n    - {name: n, type: Number, value: '12'}\n  stages",
      ],
      [
        "environmentVariables: []",
        "environmentVariables:\n                      - {name: WHO, type: String, value: me}",
      ],
    ),
  );
  const value = (text: string): string =>
    evaluateTemplate(
      text,
      scopeFor(plan, () => undefined, "n3"),
    );
  assert.equal(
    value("<+pipeline.name> <+pipeline.sequenceId> <+pipeline.executionId> <+pipeline.startTs>"),
    "Sample deployment 7 run1 1000",
  );
  assert.equal(
    value("<+pipeline.triggerType> <+pipeline.triggeredBy.name> <+pipeline.triggeredBy.email>"),
    "WEBHOOK_CUSTOM hook hook@example.com",
  );
  assert.equal(value("<+pipeline.variables.a><+pipeline.variables.n> <+pipeline.tags.team>"), "x12 web");
  assert.equal(value("<+pipeline.stages.deploy.spec.infrastructure.environmentRef>"), "staging");
  assert.equal(value("<+pipeline.stages.deploy.spec.execution.steps.greet.spec.environmentVariables.WHO>"), "me");
  assert.equal(
    value("<+stage.name> <+step.identifier> <+org.identifier> <+project.name> <+account.identifier>"),
    "Deploy greet default Shop acc",
  );
  assert.equal(value('<+trigger.type> <+trigger.payload.version> <+trigger.header["X-Event"]>'), "Custom 2.0.0 push");
});

const environment = (row: string): string =>
  changed(["environmentVariables: []", `environmentVariables:\n                      - ${row}`]);

const variables = (...rows: readonly string[]): string =>
  changed(["  tags: {}\n  stages", `  variables:\n${rows.map((row) => `    - ${row}\n`).join("")}  stages`]);

test("variables are evaluated once, in their order, and their values are data", () => {
  const { context } = planOf(
    variables(
      "{name: version, type: String, value: v<+trigger.payload.version>}",
      "{name: image, type: String, value: 'web:<+pipeline.variables.version>'}",
      "{name: count, type: Number, value: <+trigger.payload.count>}",
      "{name: note, type: String, value: <+trigger.payload.note>}",
    ),
  );
  const { pipeline } = context as { pipeline: { variables: unknown } };
  assert.deepEqual(pipeline.variables, { version: "v2.0.0", image: "web:v2.0.0", count: 12, note: "<+pipeline.name>" });
});

test("a variable of a stage sees its stage", () => {
  const plan = planOf(
    changed([
      "        type: Deployment\n",
      "        type: Deployment\n        variables:\n          - {name: title, type: String, value: '<+stage.name> <+pipeline.name>'}\n",
    ]),
  );
  assert.equal(
    evaluateTemplate(
      "<+stage.variables.title>",
      scopeFor(plan, () => undefined, "n3"),
    ),
    "Deploy Sample deployment",
  );
});

test("a variable that reads what is not there is refused by its name", () => {
  const refused = (row: string, facts: Facts = FACTS, message: RegExp): void =>
    assert.throws(() => planOf(variables(row), facts), { code: "pipeline.unresolved_variable", status: 400, message });
  refused("{name: x, type: String, value: <+trigger.payload.nothing>}", FACTS, /pipeline\.variables\.x.*nothing/);
  refused(
    "{name: x, type: String, value: <+trigger.payload.version>}",
    { ...FACTS, trigger: null },
    /pipeline\.variables\.x/,
  );
  refused("{name: x, type: String, value: <+pipeline.variables.get(trigger.payload.version)>}", FACTS, /variables\.x/);
  refused("{name: x, type: Number, value: <+trigger.payload.version>}", FACTS, /its type is Number/);
});

test("a number is a decimal number after evaluation too: no expression of Bash, no other base, no leading zero", () => {
  const evil = "a[$(id >&2)]+1";
  const payload = {
    evil,
    octal: "010",
    hex: "0x10",
    spaced: " 5",
    plus: "+5",
    none: "",
    inf: "1e999",
    big: "9".repeat(20),
  };
  const facts: Facts = { ...FACTS, trigger: { type: "Custom", payload, header: {} } };
  const path = "pipeline.stages[0].stage.spec.execution.steps[0].step.spec.environmentVariables[0].value";
  const faultOf = (text: string): unknown => {
    try {
      planOf(text, facts);
    } catch (error) {
      assert.ok(error instanceof Problem);
      assert.deepEqual([error.code, error.status], ["pipeline.unresolved_variable", 400]);
      return [error.message.split(" cannot")[0], ...error.faults.map((fault) => fault.path)];
    }
    return undefined;
  };
  const step = "pipeline.stages.deploy.spec.execution.steps.greet.spec.environmentVariables.N";
  for (const name of Object.keys(payload).filter((one) => one !== "big")) {
    const value = `value: <+trigger.payload.${name}>`;
    const found = [variables(`{name: x, type: Number, ${value}}`), environment(`{name: N, type: Number, ${value}}`)];
    assert.deepEqual(
      found.map(faultOf),
      [
        ["The variable pipeline.variables.x", "pipeline.variables[0].value"],
        [`The variable ${step}`, path],
      ],
      name,
    );
  }
  const { context } = planOf(variables("{name: x, type: Number, value: <+trigger.payload.big>}"), facts);
  const { pipeline } = context as unknown as { pipeline: { variables: unknown } };
  assert.deepEqual(pipeline.variables, { x: payload.big }, "digits that a double cannot hold are kept");
});

test("a number that reads a result is checked when its step starts", () => {
  const value = "<+pipeline.stages.deploy.status == null ? 'x' : 1>";
  const plan = planOf(environment(`{name: N, type: Number, value: ${JSON.stringify(value)}}`));
  const { state, effects } = start(plan);
  assert.equal(effects.find((effect) => effect.kind === "enqueueTask")?.kind, "enqueueTask");
  assert.equal(state.failure, null);
  const failing = planOf(environment(`{name: N, type: Number, value: "<+pipeline.stages.deploy.status>"}`));
  const failed = start(failing);
  assert.deepEqual(
    failed.effects.map(({ kind }) => kind),
    ["releaseLocks", "endExecution"],
  );
  assert.match(failed.state.failure?.message ?? "", /^Variable N cannot be used: its type is Number/);
});

test("a required variable whose expression gives nothing is refused", () => {
  const facts: Facts = { ...FACTS, trigger: { type: "Custom", payload: { none: "" }, header: {} } };
  assert.throws(
    () => planOf(variables("{name: x, type: String, required: true, value: <+trigger.payload.none>}"), facts),
    { code: "pipeline.unresolved_variable", message: /a value is required/ },
  );
});

test("the quickstart runs through the engine up to its first task", () => {
  const text = readFileSync(new URL("../../examples/quickstart/pipeline.yaml", import.meta.url), "utf8");
  const inputs = "pipeline:\n  variables:\n    - name: version\n      value: <+trigger.payload.version>\n";
  const payload = { version: "1.4.2", commit: "9fceb02", author: "Ada Lovelace" };
  const plan = planOf(text, { ...FACTS, trigger: { type: "Custom", payload, header: {} } }, inputs);
  const { effects } = start(plan);
  const task = effects.find((effect) => effect.kind === "enqueueTask");
  assert.deepEqual(task?.kind === "enqueueTask" && task.work["env"], [
    { name: "PLATFORM_KUBE_NAMESPACE", value: "web-shop" },
    { name: "PLATFORM_KUBE_RELEASE_NAME", value: "web-shop" },
    { name: "VERSION", value: "1.4.2" },
    { name: "COMMIT", value: "9fceb02" },
    { name: "AUTHOR", value: "Ada Lovelace" },
  ]);
});

/** The sample with a step on another host; `variables` is YAML of the pipeline's list. */
function remote(host: string, variables = "[]"): string {
  const runs = SAMPLE.slice(SAMPLE.indexOf("onDelegate: true"), SAMPLE.indexOf("executionTarget: {}") + 19);
  const there = runs
    .replace("true", "false")
    .replace("{}", `{host: ${JSON.stringify(host)}, connectorRef: account.login}`);
  return changed([runs, there], ["  tags: {}\n  stages", `  tags: {}\n  variables: ${variables}\n  stages`]);
}
const variable = (value: string, name = "h"): string =>
  `{name: ${name}, type: String, value: ${JSON.stringify(value)}}`;
const giving = (value: string): string => `pipeline: {variables: [${variable(value)}]}`;

function hostsOf(text: string, inputs?: string): readonly string[] | undefined {
  const node = byIdentifier(planOf(text, FACTS, inputs).nodes, "greet");
  return node.kind === "step" ? (node.work as ShellTemplate).target?.hosts : undefined;
}

test("the hosts of a step are what the pipeline itself says, and what it allows by name", () => {
  assert.deepEqual(hostsOf(remote("web1")), ["web1"]);
  assert.deepEqual(hostsOf(remote("<+pipeline.variables.h>", `[${variable("web1")}]`)), ["web1"]);
  const chain = `[${variable("<+project.identifier>.<+org.identifier>")}, ${variable("web.<+pipeline.variables.h>", "i")}]`;
  assert.deepEqual(hostsOf(remote("<+pipeline.variables.i>", chain)), ["web.shop.default"]);
  const choice = `[${variable("<+input>.allowedValues(web1,web2).default(web1)")}]`;
  for (const [inputs, host] of [
    [undefined, "web1"],
    [giving("web2"), "web2"],
  ] as const) {
    assert.deepEqual(hostsOf(remote("<+pipeline.variables.h>", choice), inputs), [host]);
    assert.deepEqual(hostsOf(remote("<+pipeline.variables.h>.example", choice), inputs), [`${host}.example`]);
  }
  const usual = `[${variable("<+input>.default(web1)")}]`;
  assert.deepEqual(hostsOf(remote("<+pipeline.variables.h>", usual)), ["web1"]);
  assert.deepEqual(hostsOf(remote("<+pipeline.variables.h>", usual), giving("web1")), ["web1"]);
});

// A name that is put together hides from the check of the text when the pipeline is saved.
const HIDDEN = '<+pipeline["vari" + "ables"].h>';
const PATH = "pipeline.stages[0].stage.spec.execution.steps[0].step.spec.executionTarget.host";

const CHOSEN: readonly (readonly [what: string, host: string, value: string, inputs?: string])[] = [
  ["payload", HIDDEN, "<+trigger.payload.version>"],
  ["header", HIDDEN, '<+trigger.header["X-Event"]>'],
  ["another host where there is a trigger", HIDDEN, '<+trigger == null ? "web1" : "web2">'],
  ["a free input", HIDDEN, "<+input>", giving("mallory.example")],
  ["a part of the host", `web.${HIDDEN}`, "<+input>", giving("mallory.example")],
  ["another than the default", HIDDEN, "<+input>.default(web1)", giving("mallory.example")],
  ["nothing where nothing is required", `web1${HIDDEN}`, "<+input>", giving(".mallory.example")],
  ["name of the starter", "<+pipeline.triggeredBy.name>", "x"],
  ["number of the run", "web<+pipeline.sequenceId>", "x"],
  ["result of a step", "<+execution.steps.greet.status>", "x"],
];
for (const [what, host, value, inputs] of CHOSEN)
  test(`a host that a caller chooses starts no run: ${what}`, () => {
    const text = remote(host, `[${variable(value)}]`);
    assert.throws(
      () => planOf(text, FACTS, inputs),
      (error) => {
        assert.ok(error instanceof Problem, String(error));
        assert.equal(error.code, "pipeline.host_refused");
        assert.deepEqual(
          error.faults?.map(({ path }) => path),
          [PATH],
        );
        assert.ok(!error.message.includes("mallory"), error.message);
        return true;
      },
    );
  });

test("a step whose host the plan does not allow fails before it becomes a task", () => {
  const startWith = (host: string, hosts: readonly string[] | undefined) => {
    const plan = planOf(remote("web1", `[${variable("web2")}]`));
    const node = byIdentifier(plan.nodes, "greet");
    assert.ok(node.kind === "step");
    const work = node.work as ShellTemplate;
    assert.ok(work.target);
    const { hosts: _, ...former } = work.target;
    const target = { ...former, host, ...(hosts && { hosts }) };
    const changedPlan = { ...plan, nodes: { ...plan.nodes, [node.id]: { ...node, work: { ...node.work, target } } } };
    const { changed, effects } = start(changedPlan);
    const task = effects.find((effect) => effect.kind === "enqueueTask");
    return {
      failure: changed.get(node.id)?.failure,
      target: task?.kind === "enqueueTask" ? task.work["target"] : null,
    };
  };
  const sent = { host: "web2", credential: "account.login" };
  assert.deepEqual(startWith("<+pipeline.variables.h>", ["web1", "web2"]), { failure: null, target: sent });
  const { failure, target } = startWith("<+pipeline.variables.h>", ["web1"]);
  assert.equal(target, null);
  assert.deepEqual(failure?.types, ["Authorization"]);
  assert.match(failure?.message ?? "", /a host that the author of the pipeline does not allow/);
  // Plans of former versions say no hosts.
  assert.deepEqual(startWith("web2", undefined), { failure: null, target: sent });
  const old = startWith("<+pipeline.variables.h>", undefined);
  assert.equal(old.target, null);
  assert.deepEqual(old.failure?.types, ["Authorization"]);
  assert.match(old.failure?.message ?? "", /started by a former version of Railhead.*run the pipeline again/);
});
