/** Checking a document over the public interface: its faults, and the plan of what it would run. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  create,
  createTargets,
  JSON_TYPE,
  made,
  onCluster,
  pipelineYaml,
  projectYaml,
  SCOPE,
} from "../../../test/support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";
import { largePipeline } from "../jobs/large-sample.ts";
import { PLANNED } from "../testing/planned.ts";

let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
});
after(() => platform?.stop());

const send = (pipelineYaml: string, apiKey?: string): Promise<Answer> =>
  platform.send("POST", `/pipeline/api/pipelines/check?${SCOPE}`, {
    contentType: JSON_TYPE,
    body: JSON.stringify({ pipelineYaml }),
    ...(apiKey !== undefined && { apiKey }),
  });

const check = (yaml: string) => made(send(yaml));

type Fault = Readonly<Record<"severity" | "fqn" | "message" | "line" | "column", string>>;
const faultsOf = async (yaml: string): Promise<readonly string[]> =>
  (await check(yaml)).faults.map(
    ({ severity, fqn, line, column, message }: Fault) => `${severity} ${fqn} ${line}:${column} ${message}`,
  );

test("a right document has no faults, and nothing is saved", async () => {
  const { valid, faults, plan } = await check(pipelineYaml("drafted"));
  assert.deepEqual([valid, faults], [true, []]);
  assert.equal(plan.identifier, "drafted");
  assert.equal((await platform.send("GET", `/pipeline/api/pipelines/drafted?${SCOPE}`)).status, 404);
});

test("an incomplete document is answered with its faults, and without a plan", async () => {
  const beginnings = [
    "",
    "pipe",
    "pipeline:",
    "pipeline:\n  name: [",
    "pipeline: &a [*a]",
    "\t",
    "- a",
    "pipeline: {stages: []}",
  ];
  const whole = pipelineYaml("drafted");
  for (let length = 30; length < whole.length; length += 97) beginnings.push(whole.slice(0, length));
  for (const text of beginnings) {
    const { valid, faults, plan } = await check(text);
    assert.equal(valid, false, text);
    assert.equal(plan, null, text);
    assert.ok(faults.length > 0, text);
    for (const fault of faults) assert.equal(fault.severity, "ERROR", text);
  }
});

test("all faults of a document are told at once, with line and column", async () => {
  const yaml = pipelineYaml("drafted").replace("timeout: 1m", "timeout: 5s").replace("shell: Bash", "shell: Fish");
  const lines = yaml.split("\n");
  const at = (text: string): number => lines.findIndex((line) => line.includes(text)) + 1;
  const found = await faultsOf(yaml);
  const step = "pipeline.stages[0].stage.spec.execution.steps[0].step";
  assert.deepEqual(found, [
    `ERROR ${step}.timeout ${at("timeout: 5s")}:28 A timeout is at least 10s, not '5s'`,
    `ERROR ${step}.spec.shell ${at("shell: Fish")}:28 Unknown shell 'Fish'. Allowed: Bash`,
  ]);
});

test("a document of the right shape has a plan in spite of faults, of expressions, scripts and its scope", async () => {
  const yaml = pipelineYaml("drafted", "<+nothing.there>")
    .replace("echo $VALUE", "'if true'")
    .replace("projectIdentifier: shop", "projectIdentifier: other");
  const { valid, faults, plan } = await check(yaml);
  assert.equal(valid, false);
  assert.equal(plan.nodes.length, 2);
  const messages = faults.map(({ fqn, message }: Fault) => `${fqn}: ${message}`).join("\n");
  assert.match(messages, /environmentVariables\[0\]\.value: .*nothing/);
  assert.match(messages, /script: Bash does not accept line/);
  assert.match(messages, /projectIdentifier: 'other' is not the projectIdentifier of the request/);
});

test("what a document names and does not exist: saving refuses secrets, a run the rest", async () => {
  const yaml = onCluster(pipelineYaml("drafted", '<+secrets.getValue("nowhere")>'))
    .replace("serviceRef: web", "serviceRef: api")
    .replace("environmentRef: staging", "environmentRef: org.moon")
    .replace("connectorRef: cluster", "connectorRef: registry");
  const found = await faultsOf(yaml);
  const spec = "pipeline.stages[0].stage.spec";
  const short = found.map((one) => one.replace(/ \d+:\d+/, "")).toSorted();
  assert.deepEqual(short, [
    `ERROR ${spec}.execution.steps[0].step.spec.environmentVariables[0].value No secret 'nowhere' exists`,
    `WARNING ${spec}.infrastructure.environmentRef No environment 'org.moon' exists`,
    `WARNING ${spec}.infrastructure.infrastructureDefinition.spec.connectorRef No connector 'registry' exists`,
    `WARNING ${spec}.serviceConfig.serviceRef No service 'api' exists`,
  ]);
  for (const one of found) assert.match(one, / \d+:\d+ /);
  const saved = await create.pipeline(platform, yaml);
  assert.equal(saved.status, 400);
});

const chained = (pipeline: string): string => `pipeline:
  name: Outer
  identifier: outer
  stages:
    - stage:
        name: Inner
        identifier: inner
        type: Pipeline
        spec: { org: default, project: shop, pipeline: ${pipeline} }
`;

test("a pipeline that a stage runs and does not exist is a warning", async () => {
  assert.deepEqual(await faultsOf(chained("nowhere")), [
    "WARNING pipeline.stages[0].stage.spec.pipeline 9:56 No pipeline 'nowhere' exists in project 'shop'",
  ]);
  await made(create.pipeline(platform, pipelineYaml("inner")));
  const { faults, plan } = await check(chained("inner"));
  assert.deepEqual(faults, []);
  assert.deepEqual(plan.nodes[0].pipeline, {
    ...{ orgIdentifier: "default", projectIdentifier: "shop" },
    ...{ identifier: "inner", inputSetReferences: [] },
  });
});

test("the plan has the nodes in their order, with conditions, loops, timeouts and selectors", async () => {
  const { plan } = await check(PLANNED);
  const { nodes, ...pipeline } = plan;
  assert.deepEqual(
    { ...pipeline, inputs: pipeline.inputs.map(({ fqn }: { readonly fqn: string }) => fqn) },
    {
      ...{ identifier: "planned", name: "Planned", timeout: "1h", timeoutMs: 3_600_000, nodeCount: 10 },
      ...{ delegateSelectors: ["linux"], secrets: ["org.token"], barriers: [{ identifier: "all", name: "All" }] },
      inputs: [
        "pipeline.variables[0].value",
        "pipeline.stages[0].stage.spec.execution.steps[2].stepGroup.strategy.repeat.times",
      ],
    },
  );
  type Node = Readonly<Record<string, unknown>> & {
    readonly parent: string | null;
    readonly loop: { readonly kind: string; readonly instances: number | null };
  };
  const outline = nodes.map(({ parent, ...node }: Node) => [
    node["kind"],
    node["identifier"] ?? null,
    node["list"],
    parent?.length ?? 0,
  ]);
  const stage = "pipeline.stages[0].stage".length;
  const group = "pipeline.stages[0].stage.spec.execution.steps[2].stepGroup".length;
  const parallel = "pipeline.stages[0].stage.spec.execution.steps[1].parallel".length;
  assert.deepEqual(outline, [
    ["Stage", "deploy", "stages", 0],
    ["Step", "first", "steps", stage],
    ["Parallel", null, "steps", stage],
    ["Step", "left", "steps", parallel],
    ["Step", "right", "steps", parallel],
    ["StepGroup", "group", "steps", stage],
    ["Step", "inside", "steps", group],
    ["Step", "undo", "rollbackSteps", stage],
    ["Stage", "after", "stages", 0],
    ["Step", "last", "steps", "pipeline.stages[1].stage".length],
  ]);
  const node = (identifier: string): Node => nodes.find((one: Node) => one["identifier"] === identifier);
  const deploy = node("deploy");
  assert.deepEqual(
    [deploy["service"], deploy["environment"], deploy["infrastructure"]],
    ["web", "staging", { connector: "cluster", namespace: "web", releaseName: "r" }],
  );
  assert.deepEqual(deploy["loop"], {
    ...{ kind: "Matrix", instances: 3, maxConcurrency: 2, onFailure: "RunAll" },
    axes: [
      { name: "os", count: 2 },
      { name: "size", count: 2 },
    ],
  });
  assert.deepEqual(deploy["failureStrategies"], [{ errors: ["AllErrors"], action: "StageRollback" }]);
  assert.deepEqual(node("first")["when"], { status: "All", condition: "<+pipeline.variables.go> == 'yes'" });
  assert.deepEqual([node("first")["timeout"], node("first")["timeoutMs"]], [null, 600_000]);
  assert.deepEqual([node("left")["timeout"], node("left")["timeoutMs"]], ["<+pipeline.variables.go>", null]);
  assert.deepEqual([node("left")["delegateSelectors"], node("right")["delegateSelectors"]], [["own"], ["linux"]]);
  assert.deepEqual([node("left")["secrets"], node("right")["secrets"]], [["org.token"], ["account.key"]]);
  assert.deepEqual([node("group").loop.kind, node("group").loop.instances], ["Times", null]);
  assert.deepEqual([node("left")["type"], node("after")["type"]], ["ShellScript", "Approval"]);
});

test("a large document is checked in a worker", async () => {
  const yaml = largePipeline({ stages: 20, steps: 20 });
  assert.ok(yaml.length > 64 * 1024);
  const { valid, plan } = await check(yaml);
  assert.equal(valid, true);
  assert.equal(plan.nodes.length, plan.nodeCount);
});

test("Bash is asked for who may save, and references are those that the caller may see", async () => {
  const yaml = pipelineYaml("drafted", '<+secrets.getValue("own_text")>').replace("echo $VALUE", "'if true'");
  const secret = {
    type: "SecretText",
    name: "own_text",
    identifier: "own_text",
    spec: { valueType: "Inline", value: "v" },
  };
  const body = { orgIdentifier: "default", projectIdentifier: "shop", ...secret };
  const spec = { ...secret.spec, secretManagerIdentifier: "platformSecretManager" };
  await made(
    platform.send("POST", `/ng/api/v2/secrets?${SCOPE}`, {
      contentType: JSON_TYPE,
      body: JSON.stringify({ secret: { ...body, spec } }),
    }),
  );
  const saver = await faultsOf(yaml);
  assert.equal(saver.length, 1);
  assert.match(saver[0] ?? "", /Bash does not accept/);
  const viewer = await platform.addUser("_project_viewer", { orgIdentifier: "default", projectIdentifier: "shop" });
  const { faults } = await made(send(yaml, viewer));
  const messages = faults.map(({ severity, message }: Fault) => `${severity} ${message}`);
  assert.deepEqual(messages.toSorted(), [
    "ERROR The secret 'own_text' may not be used: core_secret_access is missing",
    "WARNING The environment 'staging' may not be used: core_environment_access is missing",
    "WARNING The service 'web' may not be used: core_service_access is missing",
  ]);
});

test("a body without a document is refused, and a project that does not exist", async () => {
  const bad = await platform.send("POST", `/pipeline/api/pipelines/check?${SCOPE}`, {
    contentType: JSON_TYPE,
    body: "{}",
  });
  assert.equal(bad.status, 400);
  assert.match(bad.body.message, /pipelineYaml/);
  const nowhere = await platform.send(
    "POST",
    "/pipeline/api/pipelines/check?orgIdentifier=default&projectIdentifier=nowhere",
    { contentType: JSON_TYPE, body: JSON.stringify({ pipelineYaml: "" }) },
  );
  assert.equal(nowhere.status, 404);
});
