/** Inputs that are asked for while an execution runs, over REST and GraphQL. */
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { createPipelines, detailOf, SCOPE, startRun, statusesOf, waitForEnd } from "../../../test/support/runs.ts";
import { fromWire } from "../../core/ids.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";
import { newIdentity, pretendDelegate, type PretendDelegate } from "../../../test/support/pretend-delegate.ts";

const JSON_TYPE = "application/json";
const ASKED = "<+input>.executionInput()";

let platform: TestPlatform;
let delegate: PretendDelegate;

const variable = (name: string, value: string, more: object = {}) => ({ name, type: "String", value, ...more });
const script = (id: string, env: readonly object[], more: object = {}) => ({
  step: {
    ...{ type: "ShellScript", name: id, identifier: id, timeout: "1m" },
    spec: { shell: "Bash", source: { type: "Inline", spec: { script: 'echo "$WHO"' } }, environmentVariables: env },
    ...more,
  },
});

const documentOf = (identifier: string, stages: readonly object[]) => ({
  pipeline: { name: identifier, identifier, orgIdentifier: "default", projectIdentifier: "p", stages },
});

const stageOf = (identifier: string, steps: readonly object[], more: object = {}) => ({
  stage: { name: identifier, identifier, type: "Custom", spec: { execution: { steps } }, ...more },
});

async function create(document: object): Promise<void> {
  const answer = await platform.send("POST", `/pipeline/api/pipelines?${SCOPE}`, {
    ...{ contentType: JSON_TYPE, body: JSON.stringify(document) },
  });
  assert.equal(answer.status, 200, answer.text);
}

const save = (identifier: string, stages: readonly object[]): Promise<void> => create(documentOf(identifier, stages));

const PROCEED = [{ onFailure: { errors: ["InputTimeoutError"], action: { type: "ProceedWithDefaultValues" } } }];

before(async () => {
  platform = await startTestPlatform();
  await createPipelines(platform);
  await save("asks", [stageOf("s", [script("greet", [variable("WHO", ASKED)])])]);
  await save("chooses", [
    stageOf("s", [
      script("greet", [
        variable("WHO", `${ASKED}.allowedValues(ada,grace)`),
        { ...variable("COUNT", `${ASKED}.default(1)`), type: "Number" },
        variable("TAG", `${ASKED}.regex(v[0-9]+).default(v1)`),
        variable("ALL", `${ASKED}.selectManyFrom(a,b,c).default(a)`),
      ]),
    ]),
  ]);
  await save("proceeds", [
    stageOf("s", [script("greet", [variable("WHO", `${ASKED}.default(world)`)])], { failureStrategies: PROCEED }),
  ]);
  await save("sizes", [
    stageOf("s", [script("greet", [variable("WHO", "<+stage.variables.who>!")])], {
      variables: [variable("who", ASKED, { required: true })],
    }),
    stageOf("t", [script("later", [variable("WHO", "<+pipeline.stages.s.variables.who>?")])]),
  ]);
  const token = await platform.delegateToken();
  delegate = await pretendDelegate({ url: platform.url, token, name: `d-${newIdentity()}`, slots: 16 });
  await delegate.next("welcome");
});
afterEach(async () => {
  const open = await platform.db.query("select 1 from execution_timers");
  assert.deepEqual(open, [], "an execution has left a timer");
});
after(async () => {
  await delegate?.cut();
  await platform?.stop();
});

const nodeOf = async (id: string, name = "greet"): Promise<string> =>
  (await detailOf(platform, id)).step(name)["uuid"] as string;
const pathOf = (node: string): string => `/pipeline/api/pipelines/execution/${node}/executionInput`;

type Sent = { readonly apiKey?: string; readonly to?: TestPlatform };
const submit = (node: string, body: object | string, { apiKey, to = platform }: Sent = {}): Promise<Answer> =>
  to.send("POST", pathOf(node), {
    contentType: typeof body === "string" ? "application/yaml" : JSON_TYPE,
    body: typeof body === "string" ? body : JSON.stringify(body),
    ...(apiKey !== undefined && { apiKey }),
  });

const given = (...variables: readonly object[]): object => ({
  step: { identifier: "greet", spec: { environmentVariables: variables } },
});
const abort = (id: string): Promise<Answer> =>
  platform.send("PUT", `/pipeline/api/pipeline/execute/interrupt/${id}?interruptType=AbortAll`);

/** The environment of the script that the delegate gets next, by name. */
async function nextEnv(): Promise<Readonly<Record<string, string>>> {
  const run = await delegate.next("run");
  const { env } = run.work as unknown as { env: readonly { name: string; value: string }[] };
  delegate.finish(run);
  return Object.fromEntries(env.map(({ name, value }) => [name, value]));
}

test("a step waits in InputWaiting until its inputs are submitted, and its script gets them as data", async () => {
  const id = await startRun(platform, "asks");
  assert.equal(await statusesOf(platform, id, "greet"), "InputWaiting greet:InputWaiting");
  const { summary, step } = await detailOf(platform, id);
  assert.deepEqual([summary.executionInputConfigured, step("greet")["executionInputConfigured"]], [true, true]);
  assert.ok(
    Object.values<{ executionInputConfigured: boolean }>(summary.layoutNodeMap).every(
      (one) => one.executionInputConfigured,
    ),
  );
  assert.equal(step("greet")["waitReason"], "Waits for its inputs: step.spec.environmentVariables[0].value.");
  const listed = await platform.send("POST", `/pipeline/api/pipelines/execution/summary?${SCOPE}&status=InputWaiting`);
  assert.deepEqual(
    listed.body.data.content.map((one: { planExecutionId: string }) => one.planExecutionId),
    [id],
  );
  const node = await nodeOf(id);
  const asked = await platform.send("GET", pathOf(node));
  const template = `step:
  identifier: greet
  type: ShellScript
  spec:
    environmentVariables:
      - name: WHO
        type: String
        value: ${ASKED}
`;
  assert.deepEqual(asked.body.data, {
    ...{ nodeExecutionId: node, planExecutionId: id, status: "InputWaiting", inputTemplate: template, userInput: null },
  });
  const value = `$(id)'"; <-x\nnext`;
  const answer = await submit(node, given({ name: "WHO", value }));
  assert.deepEqual([answer.status, answer.body.data], [200, { nodeExecutionId: node, status: "Success" }]);
  assert.deepEqual(await nextEnv(), { WHO: value });
  assert.equal(await waitForEnd(platform, id), "SUCCESS");
  const { userInput } = (await platform.send("GET", pathOf(node))).body.data;
  assert.match(userInput, / {10}\$\(id\)/);
  const late = await submit(node, given({ name: "WHO", value: "x" }));
  assert.deepEqual(
    [late.status, late.body.message],
    [400, `Node [${node}] does not wait for inputs: they are there already.`],
  );
});

test("the template that is sent back with values is taken, and validators apply", async () => {
  const id = await startRun(platform, "chooses");
  const node = await nodeOf(id);
  const path = "step.spec.environmentVariables";
  const refused = async (body: object | string, message: string): Promise<void> => {
    const answer = await submit(node, body);
    assert.deepEqual([answer.status, answer.body.code], [400, "INVALID_REQUEST"], answer.text);
    assert.ok(answer.body.message.includes(message), answer.body.message);
    assert.equal(await statusesOf(platform, id, "greet"), "InputWaiting greet:InputWaiting");
  };
  await refused({}, `Runtime inputs without a value: ${path}[0].value.`);
  await refused("", `Runtime inputs without a value: ${path}[0].value.`);
  await refused(
    "step:\n  spec:\n    environmentVariables:\n      - {name: WHO, value: bob}\n",
    `'bob' is not one of the allowed values: ada, grace (line 4)`,
  );
  const all = (more: object) => given({ name: "WHO", value: "ada" }, more);
  await refused(
    all({ name: "COUNT", value: "01" }),
    "Expected a number: its type is Number and its value has a leading zero",
  );
  await refused(all({ name: "TAG", value: "w1" }), "'w1' does not match the pattern v[0-9]+");
  await refused(all({ name: "ALL", value: ["a", "d"] }), "'d' is not one of the allowed values: a, b, c");
  await refused(all({ name: "OTHER", value: "x" }), "The pipeline has no 'OTHER' here");
  await refused(all({ name: "COUNT", value: ["1"] }), "Expected a text, got a list");
  await refused({ ...given({ name: "WHO", value: "ada" }), pipeline: {} }, "The pipeline has no 'pipeline' here");
  const { step } = given({ name: "WHO", value: "ada" }) as { step: object };
  await refused({ step: { ...step, identifier: "other" } }, "This is fixed by the pipeline");
  await refused(all({ name: "TAG", value: "<+pipeline.name>" }), "'<+pipeline.name>' does not match");
  assert.equal((await submit(node, "step: [")).body.code, "INVALID_YAML_ERROR");
  const { inputTemplate } = (await platform.send("GET", pathOf(node))).body.data;
  const filled = inputTemplate
    .replace(`${ASKED}.allowedValues(ada,grace)`, "grace")
    .replace(/value: .*\(a,b,c\).*/, "value: [c, a]");
  assert.equal((await submit(node, filled)).status, 200);
  assert.deepEqual(await nextEnv(), { WHO: "grace", COUNT: "1", TAG: "v1", ALL: "c,a" });
  assert.equal(await waitForEnd(platform, id), "SUCCESS");
});

test("inputs for which an execution has no room are refused, and the node waits for others", async () => {
  const id = await startRun(platform, "asks");
  const node = await nodeOf(id);
  const has = (bytes: number): Promise<unknown> =>
    platform.db.query(
      "update executions set header = jsonb_set(header::jsonb, '{outputBytes}', to_jsonb($2::int))::json where id = $1",
      [fromWire(id), bytes],
    );
  await has(4 * 1024 * 1024 - 2);
  const refused = await submit(node, given({ name: "WHO", value: "ada" }));
  assert.deepEqual([refused.status, refused.body.code], [400, "INVALID_REQUEST"], refused.text);
  assert.match(
    refused.body.message,
    /at most 4194304 bytes together, and with these inputs they would have 4194305\.$/,
  );
  assert.equal(await statusesOf(platform, id, "greet"), "InputWaiting greet:InputWaiting");
  assert.equal((await submit(node, given({ name: "WHO", value: "al" }))).status, 200);
  assert.deepEqual(await nextEnv(), { WHO: "al" });
  assert.equal(await waitForEnd(platform, id), "SUCCESS");
});

test("who is too late is told so, also with inputs for which there is no room", async () => {
  const id = await startRun(platform, "asks");
  const node = await nodeOf(id);
  const [held, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  // Both have read that the node waits before one of them counts.
  const holder = platform.db.transaction(async (tx) => {
    await tx.query(
      "update executions set header = jsonb_set(header::jsonb, '{outputBytes}', to_jsonb($2::int))::json where id = $1",
      [fromWire(id), 4 * 1024 * 1024 - 2],
    );
    held.resolve();
    await commit.promise;
  });
  await held.promise;
  const isWaiting = async (count: number): Promise<void> => {
    const [row] = await platform.db.query<{ waiting: number }>(
      `select count(*)::int as waiting from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%for no key update%'`,
      [],
    );
    if ((row?.waiting ?? 0) < count) await isWaiting(count);
  };
  const first = submit(node, given({ name: "WHO", value: "al" }));
  await isWaiting(1);
  const second = submit(node, given({ name: "WHO", value: "grace" }));
  await isWaiting(2);
  commit.resolve();
  await holder;
  assert.equal((await first).status, 200);
  assert.match((await second).body.message, /does not wait for inputs: they were submitted by another request/);
  assert.deepEqual(await nextEnv(), { WHO: "al" });
  assert.equal(await waitForEnd(platform, id), "SUCCESS");
});

test("what asks for a secret, and any other expression, is refused", async () => {
  const id = await startRun(platform, "asks");
  const node = await nodeOf(id);
  const secret = await submit(node, given({ name: "WHO", value: '<+secrets.getValue("account.x")>' }));
  assert.equal(secret.status, 400);
  assert.match(secret.body.message, /^Runtime inputs name secrets only where the pipeline declares the type Secret/);
  for (const value of ["<+pipeline.name>", '<+ "" + secrets.getValue("account.x")>', '<+executionInput["a"]>']) {
    const answer = await submit(node, given({ name: "WHO", value }));
    assert.equal(answer.status, 400, answer.text);
  }
  const large = await submit(node, given({ name: "WHO", value: "é".repeat(128 * 1024) }));
  assert.ok(large.status === 400 || large.status === 413, large.text);
  assert.equal(await statusesOf(platform, id, "greet"), "InputWaiting greet:InputWaiting");
  await abort(id);
  assert.equal(await statusesOf(platform, id, "greet"), "Aborted greet:Aborted");
  const late = await submit(node, given({ name: "WHO", value: "x" }));
  assert.equal(late.body.message, `Node [${node}] does not wait for inputs: its status is Aborted.`);
});

test("of submissions at once on two servers exactly one wins, and the others are told", async () => {
  const other = await platform.replica();
  const id = await startRun(platform, "asks");
  const node = await nodeOf(id);
  const names = ["a", "b", "c", "d", "e", "f"];
  const answers = await Promise.all(
    names.map((value, nth) => submit(node, given({ name: "WHO", value }), { to: nth % 2 ? other : platform })),
  );
  const won = answers.flatMap(({ status }, nth) => (status === 200 ? [names[nth]] : []));
  assert.equal(won.length, 1, answers.map(({ text }) => text).join("\n"));
  for (const { status, body } of answers)
    if (status !== 200) {
      assert.deepEqual([status, body.code], [400, "INVALID_REQUEST"]);
      assert.match(
        body.message,
        /does not wait for inputs: they (were submitted by another request, or its time is up|are there already)\.$/,
      );
    }
  assert.deepEqual(await nextEnv(), { WHO: won[0] });
  assert.equal(await waitForEnd(platform, id), "SUCCESS");
  const entries = await platform.db.query<{ difference: unknown }>(
    "select difference from audit_entries where operation = 'execution.submit-inputs' order by id",
  );
  const own = entries.filter(({ difference }) => JSON.stringify(difference).includes(node));
  assert.equal(own.length, 1, "a refused submission is in the audit trail");
  assert.doesNotMatch(JSON.stringify(own), /"value"/);
});

test("without a submission in time the step fails with InputTimeoutError, or goes on with its defaults", async () => {
  const failing = await startRun(platform, "asks");
  const proceeding = await startRun(platform, "proceeds");
  platform.clock.advance(60_000);
  await platform.platform.sweep();
  const { step } = await detailOf(platform, failing);
  assert.equal(await statusesOf(platform, failing, "greet"), "Expired greet:Expired");
  assert.deepEqual(
    [step("greet")["failureInfo"].failureTypeList, step("greet")["failureInfo"].message],
    [["INPUT_TIMEOUT_FAILURE"], "The inputs of 'greet' were not submitted within its timeout of 60 s"],
  );
  assert.deepEqual(await nextEnv(), { WHO: "world" });
  assert.equal(await waitForEnd(platform, proceeding), "SUCCESS");
});

test("a stage waits for its variables, which its steps and later stages read", async () => {
  const id = await startRun(platform, "sizes");
  assert.equal(await statusesOf(platform, id, "s"), "InputWaiting s:InputWaiting");
  const node = await nodeOf(id, "s");
  const stage = (value: string) => `stage: {variables: [{name: who, value: ${value}}]}`;
  assert.match((await submit(node, stage('""'))).body.message, /A value is required/);
  assert.match(
    (await submit(node, stage("1.10"))).body.message,
    /Write '1\.10' in quotes: unquoted, it is read as 1\.1/,
  );
  const { executionId, mutation } = {
    executionId: id,
    mutation:
      "mutation($i: SubmitExecutionInputsInput!) { submitExecutionInputs(input: $i) { clientMutationId execution { id } } }",
  };
  const input = { clientMutationId: "m", executionId, nodeExecutionId: node, inputYaml: stage("ada") };
  const { body } = await platform.graphql(mutation, { i: input });
  assert.deepEqual(
    body.data,
    { submitExecutionInputs: { clientMutationId: "m", execution: { id } } },
    JSON.stringify(body),
  );
  assert.deepEqual([await nextEnv(), await nextEnv()], [{ WHO: "ada!" }, { WHO: "ada?" }]);
  assert.equal(await waitForEnd(platform, id), "SUCCESS");
});

test("a stage gives what is submitted to the pipeline that it runs, whose steps ask for their own", async () => {
  const child = documentOf("child", [
    stageOf("s", [
      {
        stepGroup: {
          ...{ name: "g", identifier: "g" },
          variables: [variable("greeting", `${ASKED}.default(hello)`)],
          steps: [script("greet", [variable("WHO", "<+stepGroup.variables.greeting> <+pipeline.variables.who>")])],
        },
      },
    ]),
  ]);
  const { pipeline } = child;
  await create({ pipeline: { ...pipeline, variables: [variable("who", "<+input>.regex([a-z]+)")] } });
  const inputs = { variables: [{ name: "who", value: ASKED }] };
  const spec = { org: "default", project: "p", pipeline: "child", inputs };
  await create(documentOf("parent", [{ stage: { name: "run", identifier: "run", type: "Pipeline", spec } }]));
  const id = await startRun(platform, "parent");
  assert.equal(await statusesOf(platform, id, "run"), "InputWaiting run:InputWaiting");
  const run = "stage: {spec: {inputs: {variables: [{name: who, value: ada}]}}}";
  assert.equal((await submit(await nodeOf(id, "run"), run)).status, 200);
  assert.equal(await statusesOf(platform, id, "g"), "InputWaiting g:InputWaiting");
  assert.equal((await submit(await nodeOf(id, "g"), "")).status, 200);
  assert.deepEqual(await nextEnv(), { WHO: "hello ada" });
  assert.equal(await waitForEnd(platform, id), "SUCCESS");
});

test("a viewer may read what is asked for and not submit it, and others find nothing", async () => {
  const id = await startRun(platform, "asks");
  const node = await nodeOf(id);
  const viewer = await platform.addUser("_account_viewer");
  assert.equal((await platform.send("GET", pathOf(node), { apiKey: viewer })).status, 200);
  const refused = await submit(node, given({ name: "WHO", value: "x" }), { apiKey: viewer });
  assert.deepEqual([refused.status, refused.body.code], [403, "NG_ACCESS_DENIED"], refused.text);
  const stranger = await platform.addAccount();
  for (const method of ["GET", "POST"]) {
    const answer = await platform.send(method, pathOf(node), { apiKey: stranger.apiKey, account: stranger.accountId });
    assert.equal(answer.status, 404, answer.text);
  }
  const root = (await detailOf(platform, id)).graph.rootNodeId;
  assert.equal((await platform.send("GET", pathOf(root))).body.message, `Node [${root}] asks for no inputs.`);
  assert.equal(await statusesOf(platform, id, "greet"), "InputWaiting greet:InputWaiting");
  await abort(id);
});

test("who submits inputs may use the secrets of the execution, as who started it", async () => {
  const spec = { secretManagerIdentifier: "platformSecretManager", valueType: "Inline", value: "v" };
  const secret = { type: "SecretText", name: "key", identifier: "key", spec };
  const made = await platform.send("POST", "/ng/api/v2/secrets", {
    ...{ contentType: JSON_TYPE, body: JSON.stringify({ secret }) },
  });
  assert.equal(made.status, 200, made.text);
  const headers = [{ key: "authorization", value: '<+secrets.getValue("account.key")>' }];
  const spec2 = { url: "https://<+stage.variables.host>/", method: "GET", headers };
  const request = { step: { type: "Http", name: "ask", identifier: "ask", spec: spec2 } };
  await save("sends", [stageOf("s", [request], { variables: [variable("host", ASKED)] })]);
  const id = await startRun(platform, "sends");
  const node = await nodeOf(id, "s");
  const executor = await platform.addUser("_project_admin", { orgIdentifier: "default", projectIdentifier: "p" });
  const body = { stage: { identifier: "s", variables: [{ name: "host", value: "mallory.example" }] } };
  const refused = await submit(node, body, { apiKey: executor });
  assert.equal(refused.status, 403, refused.text);
  assert.match(refused.text, /core_secret_access/);
  assert.equal((await abort(id)).status, 200);
});

const IN_P = { orgIdentifier: "default", projectIdentifier: "p" };

test("who submits inputs may use the environments of the execution, and execute its chained pipelines", async () => {
  const sent = async (path: string, body: object): Promise<void> => {
    const answer = await platform.send("POST", path, { contentType: JSON_TYPE, body: JSON.stringify(body) });
    assert.equal(answer.status, 200, answer.text);
  };
  await sent("/ng/api/environmentsV2", { name: "Prod", identifier: "prod", type: "Production" });
  await sent("/ng/api/projects?orgIdentifier=default", {
    project: { name: "Q", identifier: "q", orgIdentifier: "default" },
  });
  const inQ = documentOf("elsewhere", [stageOf("s", [script("say", [])])]);
  const { status, text } = await platform.send(
    ...(["POST", "/pipeline/api/pipelines?orgIdentifier=default&projectIdentifier=q"] as const),
    { contentType: JSON_TYPE, body: JSON.stringify({ pipeline: { ...inQ.pipeline, projectIdentifier: "q" } }) },
  );
  assert.equal(status, 200, text);
  const asking = stageOf("ask", [script("greet", [variable("WHO", ASKED)])]);
  const spec = {
    ...{ serviceConfig: { serviceRef: "s" }, infrastructure: { environmentRef: "account.prod" } },
    execution: { steps: [script("deploy", [])] },
  };
  const rollsBack = [{ onFailure: { errors: ["AllErrors"], action: { type: "StageRollback" } } }];
  const deploy = { name: "d", identifier: "d", type: "Deployment", failureStrategies: rollsBack, spec };
  await save("deploys", [asking, { stage: deploy }]);
  const chain = { org: "default", project: "q", pipeline: "elsewhere" };
  await save("chains", [asking, { stage: { name: "c", identifier: "c", type: "Pipeline", spec: chain } }]);
  const executor = await platform.addUser("_project_admin", IN_P);
  for (const [pipeline, permission] of [
    ["deploys", "core_environment_view"],
    ["chains", "core_pipeline_execute"],
  ] as const) {
    const id = await startRun(platform, pipeline);
    const node = await nodeOf(id);
    const refused = await submit(node, given({ name: "WHO", value: "x" }), { apiKey: executor });
    assert.equal(refused.status, 403, refused.text);
    assert.ok(refused.text.includes(permission), refused.text);
    assert.equal((await submit(node, given({ name: "WHO", value: "ada" }))).status, 200);
    assert.deepEqual(await nextEnv(), { WHO: "ada" });
    await nextEnv();
    assert.equal(await waitForEnd(platform, id), "SUCCESS");
  }
});
