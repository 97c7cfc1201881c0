/** Runs of single stages: which, with which inputs and values, and what is refused. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createPipelines, detailOf, SCOPE, startRun, waitForEnd } from "../../test/support/runs.ts";
import { startTestPlatform, type Answer, type SendOptions, type TestPlatform } from "../../test/support/platform.ts";
import { newIdentity, pretendDelegate, scriptOf, type PretendDelegate } from "../../test/support/pretend-delegate.ts";

const EXECUTE = "/pipeline/api/pipeline/execute";
const JSON_TYPE = "application/json";
const TAG = "<+pipeline.stages.build.spec.execution.steps.compile.output.outputVariables.tag>";

let platform: TestPlatform;
let delegate: PretendDelegate;

const stage = (identifier: string, script: string, more: object = {}) => ({
  stage: {
    ...{ name: `The ${identifier}`, identifier, type: "Custom", ...more },
    spec: {
      execution: {
        steps: [
          {
            step: {
              ...{ type: "ShellScript", name: identifier, identifier: identifier === "build" ? "compile" : identifier },
              spec: {
                ...{ shell: "Bash", source: { type: "Inline", spec: { script } } },
                ...(identifier === "build" && { outputVariables: [{ name: "tag", type: "String", value: "tag" }] }),
              },
            },
          },
        ],
      },
    },
  },
});
const color = (name: string) => ({ variables: [{ name, type: "String", value: "<+input>" }] });
const staged = {
  identifier: "staged",
  allowStageExecutions: true,
  stages: [
    stage("build", "compile", color("flavor")),
    { parallel: [stage("lint", "lint"), stage("unit", "unit <+stage.variables.size>", color("size"))] },
    stage("deploy", `deploy ${TAG}`, { when: { pipelineStatus: "Success", condition: `${TAG} != ""` } }),
  ],
};

const save = (document: { readonly identifier: string }, method = "POST"): Promise<Answer> =>
  platform.send(method, `/pipeline/api/pipelines${method === "PUT" ? `/${document.identifier}` : ""}?${SCOPE}`, {
    contentType: JSON_TYPE,
    body: JSON.stringify({
      pipeline: { name: document.identifier, orgIdentifier: "default", projectIdentifier: "p", ...document },
    }),
  });

before(async () => {
  platform = await startTestPlatform();
  await createPipelines(platform, { id: "one", steps: [{ id: "a" }] });
  const saved = await save(staged);
  assert.equal(saved.status, 200, saved.text);
  const token = await platform.delegateToken();
  delegate = await pretendDelegate({ url: platform.url, token, name: `d-${newIdentity()}`, slots: 8 });
  await delegate.next("welcome");
});
after(async () => {
  await delegate?.cut();
  await platform?.stop();
});

const runStages = (body: object, path = "staged", how: SendOptions = {}): Promise<Answer> =>
  platform.send("POST", `${EXECUTE}/${path}/stages?${SCOPE}`, {
    ...{ contentType: JSON_TYPE, body: JSON.stringify(body), ...how },
  });
const idOf = (answer: Answer): string => {
  assert.equal(answer.status, 200, answer.text);
  return answer.body.data.planExecution.uuid;
};

/** Ends the next step; its script begins with this word, and its variables have these values. */
async function finishNext(word: string, values: readonly string[] = [], exitCode = 0): Promise<void> {
  const run = await delegate.next("run");
  const { script, env } = scriptOf(run);
  assert.deepEqual([script.split(" ")[0], env.map(({ value }) => value)], [word, values]);
  delegate.finish(run, { exitCode });
}

const size = (value: string): string =>
  `pipeline: { identifier: staged, stages: [{ parallel: [{ stage: { identifier: unit, type: Custom, variables: [{ name: size, type: String, value: ${value} }] } }] }] }`;

test("single stages run with their inputs alone, and the execution says which", async () => {
  const id = idOf(await runStages({ stageIdentifiers: ["unit"], runtimeInputYaml: size("big") }));
  await finishNext("unit", ["big"]);
  assert.equal(await waitForEnd(platform, id), "SUCCESS");
  const { summary, graph } = await detailOf(platform, id);
  assert.deepEqual(
    [summary.isStagesExecution, summary.stagesExecuted, summary.stagesExecutedNames, summary.allowStageExecutions],
    [true, ["unit"], { unit: "The unit" }, true],
  );
  assert.equal(summary.totalStagesCount, 1);
  const nodes = Object.values<{ identifier: string }>(graph.nodeMap).map(({ identifier }) => identifier);
  assert.deepEqual(nodes.includes("build"), false);
  const whole = await startRun(platform, "one");
  await finishNext("true");
  const all = (await detailOf(platform, whole)).summary;
  assert.deepEqual(
    [all.isStagesExecution, all.stagesExecuted, all.stagesExecutedNames, all.allowStageExecutions],
    [false, [], null, false],
  );
});

test("what they read of other stages is given as data, or refused by name", async () => {
  const missing = await runStages({ stageIdentifiers: ["deploy"] });
  assert.deepEqual([missing.status, missing.body.code], [400, "UNRESOLVED_EXPRESSIONS_ERROR"]);
  assert.equal(
    missing.body.message,
    `The stages read what others leave. Choose those, too, or give expressionValues for ${TAG}.`,
  );
  const value = "v1 $(date) <+pipeline.name>";
  const id = idOf(await runStages({ stageIdentifiers: ["deploy"], expressionValues: { [TAG]: value } }));
  await finishNext("deploy", [value]);
  assert.equal(await waitForEnd(platform, id), "SUCCESS");
  for (const [expressionValues, message] of [
    [{ [TAG]: "v", "<+pipeline.name>": "x" }, /'<\+pipeline\.name>' is not what they read of other stages/],
    [{ [TAG]: "v", "no expression": "x" }, /'no expression' is not what they read/],
    [{ [TAG]: "v".repeat(16 * 1024 + 1) }, /has more than 16384 characters/],
    [Object.fromEntries(Array.from({ length: 257 }, (_, at) => [`<+a.b${at}>`, ""])), /at most 256 can be given/],
  ] as const) {
    const refused = await runStages({ stageIdentifiers: ["deploy"], expressionValues });
    assert.equal(refused.status, 400);
    assert.match(refused.body.message, message);
  }
  const { data } = (await platform.send("GET", `${EXECUTE}/stagesExecutionList?${SCOPE}&pipelineIdentifier=staged`))
    .body;
  assert.deepEqual(
    data.map((row: { stageIdentifier: string; stagesRequired: string[] }) => [row.stageIdentifier, row.stagesRequired]),
    [
      ["build", []],
      ["lint", []],
      ["unit", []],
      ["deploy", ["build"]],
    ],
  );
});

test("what cannot run is refused, with the place in the whole pipeline", async () => {
  const unknown = await runStages({ stageIdentifiers: ["unit", "nowhere"] });
  assert.deepEqual(
    [unknown.status, unknown.body.message],
    [400, "Pipeline 'staged' has no stages [nowhere]. Choose among [build, lint, unit, deploy]."],
  );
  assert.equal((await runStages({ stageIdentifiers: [] })).status, 400);
  const input = await runStages({ stageIdentifiers: ["unit"] });
  assert.match(input.body.message, /pipeline\.stages\[1\]\.parallel\[1\]\.stage\.variables\[0\]\.value/);
  const wrong = await runStages({
    stageIdentifiers: ["lint"],
    runtimeInputYaml: "pipeline: { stages: [{ stage: { identifier: x } }] }",
  });
  assert.match(wrong.body.message, /The pipeline has no 'x' here/);
  const forbidden = await runStages({ stageIdentifiers: ["stage"] }, "one");
  assert.deepEqual(
    [forbidden.status, /does not have allowStageExecutions: true/.test(forbidden.body.message)],
    [402, true],
  );
  const list = await platform.send("GET", `${EXECUTE}/stagesExecutionList?${SCOPE}&pipelineIdentifier=one`);
  assert.deepEqual(list.body.data, []);
  const viewer = await platform.addUser("_account_viewer");
  assert.equal((await runStages({ stageIdentifiers: ["lint"] }, "staged", { apiKey: viewer })).status, 403);
});

test("a rerun and a retry take the same stages; a rerun may take others", async () => {
  const body = { stageIdentifiers: ["deploy"], expressionValues: { [TAG]: "v2" } };
  const id = idOf(await runStages(body));
  await finishNext("deploy", ["v2"], 1);
  assert.equal(await waitForEnd(platform, id), "FAILED");
  const retried = idOf(await platform.send("POST", `${EXECUTE}/retry/staged?${SCOPE}&planExecutionId=${id}`));
  await finishNext("deploy", ["v2"]);
  assert.equal(await waitForEnd(platform, retried), "SUCCESS");
  assert.deepEqual((await detailOf(platform, retried)).summary.stagesExecuted, ["deploy"]);
  const again = idOf(await platform.send("POST", `${EXECUTE}/rerun/${retried}/staged?${SCOPE}`));
  await finishNext("deploy", ["v2"]);
  assert.equal(await waitForEnd(platform, again), "SUCCESS");
  const { data } = (await platform.send("GET", `/pipeline/api/pipelines/execution/${again}/inputsetV2?${SCOPE}`)).body;
  assert.deepEqual(data.expressionValues, { [TAG]: "v2" });
  const others = { stageIdentifiers: ["lint"] };
  const lint = idOf(await runStages(others, `rerun/${again}/staged`));
  await finishNext("lint");
  assert.equal(await waitForEnd(platform, lint), "SUCCESS");
  assert.deepEqual((await detailOf(platform, lint)).summary.stagesExecuted, ["lint"]);
});

test("inputs for stages that are left out are not read; those of the stages are", async () => {
  const both = `pipeline:
  identifier: staged
  stages:
    - stage: { identifier: build, type: Custom, variables: [{ name: flavor, type: String, value: x }] }
    - parallel:
        - stage: { identifier: unit, type: Custom, variables: [{ name: size, type: String, value: small }] }
`;
  const id = idOf(await runStages({ stageIdentifiers: ["unit", "lint"], runtimeInputYaml: both }));
  const words = [];
  for (let nth = 0; nth < 2; nth += 1) {
    const run = await delegate.next("run");
    const { script, env } = scriptOf(run);
    words.push([script.split(" ")[0], ...env.map(({ value }) => value)].join(" "));
    delegate.finish(run);
  }
  assert.deepEqual(words.toSorted(), ["lint", "unit small"]);
  assert.equal(await waitForEnd(platform, id), "SUCCESS");
  assert.deepEqual((await detailOf(platform, id)).summary.stagesExecuted, ["lint", "unit"]);
});

test("GraphQL starts single stages, too", async () => {
  const { body } = await platform.graphql(
    "{ applications { nodes { id pipelines(limit: 10) { nodes { id name } } } } }",
  );
  const [application] = body.data.applications.nodes;
  const found = application.pipelines.nodes.find(({ name }: { name: string }) => name === "staged");
  const start = (more: string) =>
    platform.graphql(
      `mutation { startExecution(input: { applicationId: "${application.id}", entityId: "${found.id}", executionType: PIPELINE, ${more} }) { execution { id } } }`,
    );
  const given = `expressionValues: [{ expression: "${TAG}", value: "v3" }]`;
  const answer = await start(`stageIdentifiers: ["deploy"], ${given}`);
  await finishNext("deploy", ["v3"]);
  assert.equal(await waitForEnd(platform, answer.body.data.startExecution.execution.id), "SUCCESS");
  assert.match((await start(given)).body.errors[0].message, /expressionValues need stageIdentifiers/);
});

test("a secret output cannot be given as a value, which would be stored and shown", async () => {
  const secret = TAG.replace(".tag>", ".token>");
  const build = stage("build", "token=x");
  Object.assign(build.stage.spec.execution.steps[0]?.step.spec ?? {}, {
    outputVariables: [{ name: "token", type: "Secret", value: "token" }],
  });
  const saved = await save({
    ...{ identifier: "sealed", allowStageExecutions: true },
    ...{ stages: [build, stage("deploy", `deploy "${secret}"`)] },
  });
  assert.equal(saved.status, 200, saved.text);
  const refused = await runStages({ stageIdentifiers: ["deploy"], expressionValues: { [secret]: "x" } }, "sealed");
  assert.equal(refused.status, 400, refused.text);
  assert.match(refused.body.message, /is a secret output: choose its stage, too/);
});
