/**
 * Attack class 2: callers of a webhook or of a pipeline try to choose the host that gets a step's login and secrets.
 * A pretend delegate records every host, password and secret that is sent.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  create,
  eventually,
  inputSetYaml,
  JSON_TYPE,
  made,
  createTargets,
  pipelineYaml,
  projectYaml,
  SCOPE,
  triggerYaml,
  YAML,
} from "../../support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../support/platform.ts";
import { pretendDelegate, type PretendDelegate, scriptOf } from "../../support/pretend-delegate.ts";
import { detailOf, waitForEnd } from "../../support/runs.ts";

const PASSWORD = "the password of the hosts";
const TOKEN = "the token of the application";
const MALLORY = "mallory.example";

let platform: TestPlatform;
let delegate: PretendDelegate;
before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
  const text = (name: string, value: string): object => ({
    ...{ type: "SecretText", name, identifier: name },
    spec: { secretManagerIdentifier: "platformSecretManager", valueType: "Inline", value },
  });
  const login = { credentialType: "Password", spec: { userName: "deploy", password: "account.hostpw" } };
  const ssh = { type: "SSHKey", name: "cred", identifier: "cred" };
  for (const secret of [
    text("hostpw", PASSWORD),
    text("apptoken", TOKEN),
    { ...ssh, spec: { port: 22, auth: { type: "SSH", spec: login } } },
  ])
    await made(
      platform.send("POST", "/ng/api/v2/secrets", { contentType: JSON_TYPE, body: JSON.stringify({ secret }) }),
    );
  delegate = await pretendDelegate({ url: platform.url, token: await platform.delegateToken(), tags: ["ssh"] });
  await delegate.next("welcome");
});
after(async () => {
  await delegate?.close();
  await platform?.stop();
});

const quoted = (text: string): string => JSON.stringify(text);
const variable = (value: string): string => `{ name: h, type: String, value: ${quoted(value)} }`;

/** A pipeline whose step logs in to the host and gets a secret there. `value` is the value of the variable h. */
const remote = (id: string, host: string, value?: string): string =>
  pipelineYaml(
    id,
    '<+secrets.getValue("account.apptoken")>',
    value === undefined ? "" : `  variables: [${variable(value)}]\n`,
  )
    .replace("onDelegate: true", "onDelegate: false\n                    delegateSelectors: [ssh]")
    .replace("executionTarget: {}", `executionTarget: { host: ${quoted(host)}, connectorRef: account.cred }`);

/** The same with a preceding step on the delegate that outputs H. */
const afterStep = (id: string, host: string): string => {
  const text = remote(id, host);
  const at = text.indexOf("              - step:");
  const first = `              - step:
                  type: ShellScript
                  name: First
                  identifier: first
                  spec:
                    shell: Bash
                    onDelegate: true
                    delegateSelectors: [ssh]
                    source: { type: Inline, spec: { script: H=${MALLORY} } }
                    outputVariables: [{ name: H, type: String, value: H }]
`;
  return text.slice(0, at) + first + text.slice(at);
};

const DIRECT = "<+pipeline.variables.h>";
/** Reads the same variable by a computed name, which no check of the text recognizes. */
const HIDDEN = '<+pipeline["vari" + "ables"].h>';
const PATH = "pipeline.stages[0].stage.spec.execution.steps[0].step.spec.executionTarget.host";

const givingVariable = (value: string): string => `pipeline: { variables: [${variable(value)}] }`;
const givingHost = (host: string): string =>
  `pipeline: { stages: [{ stage: { identifier: build, spec: { execution: { steps: [{ step: { identifier: go, spec: { executionTarget: { host: ${quoted(host)} } } } }] } } } }] }`;

/** Runs an allowed pipeline: the delegate gets its host, its login and its secret, and got nothing before. */
async function onlyThis(id: string, host: string, inputs?: string): Promise<void> {
  await platform.platform.sweep();
  assert.deepEqual(delegate.waiting(), []);
  const data = await made(create.run(platform, id, inputs));
  const run = await delegate.next("run");
  assert.equal(scriptOf(run).target?.host, host);
  const sent = delegate.waiting().map((message) => message.kind);
  assert.deepEqual([...new Set(sent)], ["secret"]);
  while (delegate.waiting().length > 0) await delegate.next("secret");
  delegate.finish(run);
  await delegate.next("finishedAck");
  assert.equal(await waitForEnd(platform, data.planExecution.uuid), "SUCCESS");
}

async function refusedRun(answer: Promise<Answer>, message: RegExp): Promise<void> {
  const { status, body, text } = await answer;
  assert.equal(status, 400, text);
  assert.match(body.message, message);
  assert.ok(!text.includes(MALLORY), text);
}
const CHOSEN = /The author of a pipeline, not its callers, chooses the hosts/;

/** Calls the webhook and returns the row of the delivery. */
async function called(webhookUrl: string) {
  const body = JSON.stringify({ h: MALLORY });
  const answer = await fetch(webhookUrl, { method: "POST", body, headers: { "x-host": MALLORY } });
  const { data } = (await answer.json()) as Answer["body"];
  return eventually(async () => {
    const [row] = await platform.db.query<{ status: string | null; message: string; execution_id: string | null }>(
      "select status, message, execution_id from webhook_deliveries where correlation_id = $1",
      [data.eventCorrelationId],
    );
    return row?.status ? row : undefined;
  });
}

async function refusedCall(pipeline: string, more = ""): Promise<void> {
  const { webhookUrl } = await made(
    create.trigger(platform, pipeline, triggerYaml(pipeline, `${pipeline}_hook`, more)),
  );
  const { message, execution_id: execution } = await called(webhookUrl);
  assert.match(message, CHOSEN);
  assert.equal(execution, null);
}

test("a pipeline that leaves a host to its callers is refused on saving, with the path", async () => {
  for (const [yaml, message] of [
    [remote("saved", "<+input>"), /add \.allowedValues/],
    [remote("saved", "<+input>.default(web1.example)"), /add \.allowedValues/],
    [remote("saved", "<+trigger.payload.h>"), /Callers of a webhook say what the trigger holds/],
    [remote("saved", DIRECT, "<+trigger.payload.h>"), /Callers of a webhook say what the trigger holds/],
    [remote("saved", DIRECT, '<+trigger.header["X-Host"]>'), /Callers of a webhook say what the trigger holds/],
    [remote("saved", DIRECT, "<+input>"), /The person who runs the pipeline gives this variable/],
    [afterStep("saved", "<+execution.steps.first.output.outputVariables.H>"), /A step says what it puts out/],
  ] as const) {
    const { status, body, text } = await create.pipeline(platform, yaml);
    assert.equal(status, 400, text);
    assert.match(text, message);
    const line = yaml.split("\n").findIndex((one) => one.includes("executionTarget:")) + 1;
    assert.ok(text.includes(`"line":${line}`) || text.includes(`"startLineNumber":${line}`), text);
    assert.equal(body.status, "ERROR");
  }
  // A trigger and an input set are checked with their pipeline.
  await made(create.pipeline(platform, remote("given", DIRECT, "<+input>.default(web1.example)")));
  const inputYaml = `  inputYaml: ${quoted(givingVariable('<+trigger.header["X-Host"]>'))}\n`;
  const trigger = await create.trigger(platform, "given", triggerYaml("given", "by_header", inputYaml));
  assert.equal(trigger.status, 400, trigger.text);
  assert.match(trigger.text, /Callers of a webhook say what the trigger holds/);
  await onlyThis("given", "web1.example");
});

test("a webhook's payload and headers choose no host, through any variable or input", async () => {
  await made(create.pipeline(platform, remote("by_payload", HIDDEN, "<+trigger.payload.h>")));
  await refusedCall("by_payload");
  await refusedRun(create.run(platform, "by_payload"), /cannot be evaluated|chooses the hosts/);
  await made(create.pipeline(platform, remote("by_header", HIDDEN, "<+input>")));
  await refusedCall("by_header", `  inputYaml: ${quoted(givingVariable('<+trigger.header["X-Host"]>'))}\n`);
  await made(create.pipeline(platform, remote("by_default", HIDDEN, "<+input>.default(web1.example)")));
  await refusedCall("by_default", `  inputYaml: ${quoted(givingVariable("<+trigger.payload.h>"))}\n`);
  await onlyThis("by_default", "web1.example");
});

test("a caller chooses no host that the pipeline does not name, by input, variable or input set", async () => {
  await made(create.pipeline(platform, remote("free", HIDDEN, "<+input>")));
  await refusedRun(create.run(platform, "free", givingVariable(MALLORY)), CHOSEN);
  await made(create.pipeline(platform, remote("usual", DIRECT, "<+input>.default(web1.example)")));
  const refused = await create.run(platform, "usual", givingVariable(MALLORY));
  assert.ok(refused.text.includes(PATH), refused.text);
  await refusedRun(Promise.resolve(refused), CHOSEN);
  const set = inputSetYaml("usual", "set", `    variables: [${variable(MALLORY)}]\n`);
  await made(create.inputSet(platform, "usual", set));
  const bySet = platform.send("POST", `/pipeline/api/pipeline/execute/usual/inputSetList?${SCOPE}`, {
    contentType: JSON_TYPE,
    body: JSON.stringify({ inputSetReferences: ["set"] }),
  });
  await refusedRun(bySet, CHOSEN);
  await onlyThis("usual", "web1.example");
});

test("a user who may rename the project but not edit the pipeline chooses no host by the name", async () => {
  const refused = await create.pipeline(platform, remote("named", "<+project.name>.example"));
  assert.equal(refused.status, 400, refused.text);
  assert.match(refused.text, /Persons who may edit the project change its name.*<\+project\.identifier>/);
  const byVariable = await create.pipeline(platform, remote("named", DIRECT, "<+project.name>"));
  assert.equal(byVariable.status, 400, byVariable.text);
  for (const [id, host, value] of [
    ["computed", '<+project["na" + "me"].toLowerCase()>.example'],
    ["by_variable", HIDDEN, '<+project.get("name").toLowerCase()>.example'],
  ] as const) {
    await made(create.pipeline(platform, remote(id, host, value)));
    for (const name of ["Shop", "Mallory"]) {
      const body = projectYaml().replace(/name: .*/, `name: ${name}`);
      await made(platform.send("PUT", "/ng/api/projects/shop?orgIdentifier=default", { contentType: YAML, body }));
      const { status, text } = await create.run(platform, id);
      assert.equal(status, 400, text);
      assert.match(text, /chooses the hosts/);
    }
  }
  await made(create.pipeline(platform, remote("lasting", "<+project.identifier>.<+org.identifier>.example")));
  await onlyThis("lasting", "shop.default.example");
});

test("the output of a step is no host: the step that would log in there fails before anything is sent", async () => {
  const output = 'execution.steps.first.output.get("output" + "Variables").H';
  await made(create.pipeline(platform, afterStep("by_output", `<+${output}>`)));
  await refusedRun(create.run(platform, "by_output"), CHOSEN);
  // The expression also has a value without the output, so that only the start of the step shows the difference.
  await made(create.pipeline(platform, afterStep("late", `<+${output} == null ? "web1.example" : ${output}>`)));
  const { planExecution } = await made(create.run(platform, "late"));
  const first = await delegate.next("run");
  assert.equal(scriptOf(first).target, undefined);
  delegate.finish(first, { outputs: [{ name: "H", value: MALLORY }] });
  await delegate.next("finishedAck");
  assert.equal(await waitForEnd(platform, planExecution.uuid), "FAILED");
  const { message, failureTypeList } = (await detailOf(platform, planExecution.uuid)).step("go")["failureInfo"];
  assert.match(message, /a host that the author of the pipeline does not allow/);
  assert.deepEqual(failureTypeList, ["AUTHORIZATION_ERROR"]);
  assert.deepEqual(delegate.waiting(), []);
});

test("hosts that the pipeline names are used: literal, from the author's variables, or an allowed value", async () => {
  await made(create.pipeline(platform, remote("literal", "web1.example")));
  await onlyThis("literal", "web1.example");
  await made(
    create.pipeline(platform, remote("author", "web.<+pipeline.variables.h>", "<+project.identifier>.example")),
  );
  await onlyThis("author", "web.shop.example");
  const choice = "<+input>.allowedValues(web1.example,web2.example)";
  await made(create.pipeline(platform, remote("choice", choice)));
  await onlyThis("choice", "web2.example", givingHost("web2.example"));
  await made(create.pipeline(platform, remote("by_choice", DIRECT, choice)));
  await onlyThis("by_choice", "web1.example", givingVariable("web1.example"));
  for (const [id, inputs] of [
    ["choice", givingHost(MALLORY)],
    ["by_choice", givingVariable(MALLORY)],
  ] as const) {
    const { status, body } = await create.run(platform, id, inputs);
    assert.equal(status, 400);
    assert.match(body.message, /is not one of the allowed values/);
  }
});
