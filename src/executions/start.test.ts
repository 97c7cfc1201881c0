/** Runs started by hand: their inputs, their numbers, and what is written when they are refused. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { addPipeline, createPipelines, SCOPE, startRun } from "../../test/support/runs.ts";
import { startTestPlatform, type TestPlatform } from "../../test/support/platform.ts";
import { pretendDelegate, scriptOf, type PretendDelegate } from "../../test/support/pretend-delegate.ts";
import { snapshot } from "../../test/support/watch.ts";

let platform: TestPlatform;
let delegate: PretendDelegate;

before(async () => {
  platform = await startTestPlatform();
  delegate = await pretendDelegate({ url: platform.url, token: await platform.delegateToken(), slots: 64 });
  await delegate.next("welcome");
  await createPipelines(
    platform,
    {
      id: "asks",
      variables: { version: "<+input>", region: "<+input>.default(eu).allowedValues(eu,us)" },
      steps: [
        {
          id: "a",
          env: {
            V: "<+pipeline.variables.version>",
            R: "<+pipeline.variables.region>",
            N: "<+pipeline.sequenceId>",
            T: "<+input>",
          },
        },
      ],
    },
    { id: "plain", steps: [{ id: "a" }] },
  );
});
after(async () => {
  await delegate?.close();
  await platform?.stop();
});

const stages = (value: string): object[] => [
  {
    stage: {
      identifier: "stage",
      type: "Deployment",
      spec: {
        execution: {
          steps: [
            {
              step: {
                identifier: "a",
                type: "ShellScript",
                spec: { environmentVariables: [{ name: "T", type: "String", value }] },
              },
            },
          ],
        },
      },
    },
  },
];
const variable = (name: string, value: string): object => ({ name, type: "String", value });
const asJson = (variables: object[], rest: object = {}): string =>
  JSON.stringify({ pipeline: { identifier: "asks", variables, ...rest } });

const YAML = `pipeline:
  identifier: asks
  variables:
    - name: version
      type: String
      value: "1.0"
  stages:
    - stage:
        identifier: stage
        type: Deployment
        spec:
          execution:
            steps:
              - step:
                  identifier: a
                  type: ShellScript
                  spec:
                    environmentVariables:
                      - name: T
                        type: String
                        value: "text"
`;

for (const [contentType, body] of [
  ["application/yaml", YAML],
  ["application/json", asJson([variable("version", "1.0")], { stages: stages("text") })],
] as const) {
  test(`runtime inputs come as ${contentType}`, async () => {
    await startRun(platform, "asks", { contentType, body });
    const { env } = scriptOf(await delegate.next("run"));
    const values = Object.fromEntries(env.map(({ name, value }) => [name, value]));
    assert.deepEqual([values["V"], values["R"], values["T"]], ["1.0", "eu", "text"]);
  });
}

const execute = (body?: string, contentType = "application/json") =>
  platform.send(
    "POST",
    `/pipeline/api/pipeline/execute/asks?${SCOPE}`,
    body === undefined ? {} : { contentType, body },
  );

const refused: readonly (readonly [what: string, body: string | undefined, message: RegExp, type?: string])[] = [
  [
    "nothing at all",
    undefined,
    /pipeline\.variables\[0\]\.value, pipeline\.stages\[0\].*environmentVariables\[0|3\]\.value/,
  ],
  ["one of two", asJson([variable("version", "1")]), /environmentVariables/],
  [
    "a value that is not allowed",
    asJson([variable("version", "1"), variable("region", "mars")], { stages: stages("t") }),
    /region|mars/,
  ],
  [
    "what belongs nowhere",
    asJson([variable("version", "1"), variable("colour", "red")], { stages: stages("t") }),
    /colour/,
  ],
  ["another pipeline's inputs", asJson([]).replace("asks", "plain"), /./],
  ["broken JSON", '{"pipeline":', /line 1/],
  ["broken YAML", "pipeline: [", /line 1|./, "application/yaml"],
];
for (const [what, body, message, type] of refused) {
  test(`${what}: 400, and nothing is written`, async () => {
    const before = await snapshot(platform);
    const answer = await execute(body, type);
    assert.equal(answer.status, 400);
    assert.match(answer.body.message, message);
    assert.equal(await snapshot(platform), before);
    assert.deepEqual(delegate.waiting(), []);
  });
}

test("a missing input is named by its path, every one of them", async () => {
  const { message } = (await execute()).body;
  assert.match(message, /pipeline\.variables\[0\]\.value/);
  assert.match(
    message,
    /pipeline\.stages\[0\]\.stage\.spec\.execution\.steps\[0\]\.step\.spec\.environmentVariables\[3\]\.value/,
  );
  assert.doesNotMatch(message, /variables\[1\]/);
});

test("the answer is the plan execution, with its number; a refused run uses no number up", async () => {
  const numbers = async (): Promise<number[]> => {
    const rows = await platform.db.query<{ n: number }>(
      "select run_sequence as n from executions e join pipelines p on p.id = e.pipeline_id where p.identifier = 'plain' order by 1",
    );
    return rows.map(({ n }) => n);
  };
  const path = `/pipeline/api/pipeline/execute/plain?${SCOPE}`;
  const { planExecution } = (await platform.send("POST", path)).body.data;
  assert.equal(planExecution.metadata.runSequence, 1);
  assert.equal(planExecution.status, "RUNNING");
  assert.equal(planExecution.startTs, platform.clock.now());
  assert.equal(planExecution.metadata.triggerInfo.triggerType, "MANUAL");
  assert.deepEqual(planExecution.setupAbstractions, {
    accountId: platform.accountId,
    orgIdentifier: "default",
    projectIdentifier: "p",
  });
  assert.equal(
    (
      await platform.send("POST", path, {
        body: '{"pipeline":{"identifier":"other"}}',
        contentType: "application/json",
      })
    ).status,
    400,
  );
  await Promise.all(Array.from({ length: 12 }, () => startRun(platform, "plain")));
  assert.deepEqual(
    await numbers(),
    Array.from({ length: 13 }, (_, at) => at + 1),
  );
});

test("two replicas give numbers without gap or double", async () => {
  await addPipeline(platform, { id: "shared", steps: [{ id: "a" }] });
  const other = await platform.replica();
  await Promise.all(Array.from({ length: 16 }, (_, at) => startRun(at % 2 === 0 ? platform : other, "shared")));
  const rows = await platform.db.query<{ n: number }>(
    "select run_sequence as n from executions e join pipelines p on p.id = e.pipeline_id where p.identifier = 'shared' order by 1",
  );
  assert.deepEqual(
    rows.map(({ n }) => n),
    Array.from({ length: 16 }, (_, at) => at + 1),
  );
  await other.stop();
});

test("who may only look may not start, and nothing is written", async () => {
  const before = await snapshot(platform);
  const viewer = await platform.addUser("_account_viewer");
  const answer = await platform.send("POST", `/pipeline/api/pipeline/execute/plain?${SCOPE}`, { apiKey: viewer });
  assert.equal(answer.status, 403);
  const nowhere = await platform.send("POST", `/pipeline/api/pipeline/execute/nope?${SCOPE}`);
  assert.equal(nowhere.status, 404);
  assert.equal(await snapshot(platform), before);
});
