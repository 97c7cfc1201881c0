/** A run names what exists: services, environments, connectors. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  connectorYaml,
  create,
  eventually,
  JSON_TYPE,
  made,
  createTargets,
  onCluster,
  pipelineYaml,
  projectYaml,
  triggerYaml,
  SCOPE,
} from "../../test/support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../test/support/platform.ts";

let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
});
after(() => platform?.stop());

const SPEC = "pipeline.stages[0].stage.spec";
const AT = {
  service: `${SPEC}.serviceConfig.serviceRef`,
  environment: `${SPEC}.infrastructure.environmentRef`,
  connector: `${SPEC}.infrastructure.infrastructureDefinition.spec.connectorRef`,
};
const REFS = { service: "serviceRef: web", environment: "environmentRef: staging", connector: "connectorRef: cluster" };

type Refs = Partial<Record<keyof typeof REFS, string>>;

/** The sample with other references, each as YAML writes it. */
function pipeline(identifier: string, refs: Refs, more = ""): string {
  let text = onCluster(pipelineYaml(identifier, "none", more));
  for (const [kind, ref] of Object.entries(refs)) {
    const line = REFS[kind as keyof Refs];
    text = text.replace(line, () => `${line.split(":")[0]}: ${ref}`);
  }
  return text;
}

const refusals = (answer: Answer): unknown[] => {
  assert.deepEqual([answer.status, answer.body.code], [400, "INVALID_REQUEST"], answer.text);
  return answer.body.metadata.schemaErrors.map(({ fqn, message, line, column }: Record<string, unknown>) => [
    fqn,
    message,
    line,
    column,
  ]);
};
const post = (path: string, body: object): Promise<Answer> =>
  platform.send("POST", path, { contentType: JSON_TYPE, body: JSON.stringify(body) });
const runs = async (): Promise<unknown> => (await platform.db.query("select count(*) as n from executions"))[0];
const refOf = async (answer: Promise<Answer>): Promise<unknown> => {
  const { planExecution } = await made(answer);
  const [row] = await platform.db.query<{ plan: { context: { pipeline: { stages: Record<string, unknown> } } } }>(
    "select plan from executions where account_id is not null order by created_at desc, id desc limit 1",
  );
  assert.match(planExecution.uuid, /^[A-Za-z0-9_-]{22}$/);
  return row?.plan.context.pipeline.stages["build"];
};

test("each reference to nothing is named, with its place in the document, and nothing is started", async () => {
  await made(
    create.pipeline(platform, pipeline("absent", { service: "nope", environment: "nope", connector: "nope" })),
  );
  const earlier = await runs();
  const answer = await create.run(platform, "absent");
  assert.deepEqual(refusals(answer), [
    [AT.service, "No service 'nope' exists", 12, 40],
    [AT.environment, "No environment 'nope' exists", 14, 29],
    [AT.connector, "No connector 'nope' exists", 17, 37],
  ]);
  for (const path of Object.values(AT)) assert.ok(answer.body.message.includes(path), answer.body.message);
  assert.deepEqual(await runs(), earlier);
});

test("a plain reference looks in the project only; `org.` and `account.` look there", async () => {
  await made(post("/ng/api/environmentsV2", { name: "P", identifier: "prod", type: "Production" }));
  await made(post("/ng/api/servicesV2", { name: "S", identifier: "shared", orgIdentifier: "default" }));
  await made(create.pipeline(platform, pipeline("plain", { environment: "prod", service: "shared" })));
  assert.deepEqual(
    refusals(await create.run(platform, "plain")).map((one) => (one as string[])[0]),
    [AT.service, AT.environment],
  );
  const scoped = pipeline("scoped", { environment: "account.prod", service: "org.shared" });
  await made(create.pipeline(platform, scoped));
  await made(create.run(platform, "scoped"));
  await made(create.pipeline(platform, pipeline("crossed", { environment: "org.prod", service: "account.shared" })));
  assert.equal(refusals(await create.run(platform, "crossed")).length, 2);
});

test("a reference that a run fills in is checked after that, and its place is the one in the inputs", async () => {
  await made(create.pipeline(platform, pipeline("asked", { environment: "<+input>" })));
  const inputs = (ref: string): string =>
    `pipeline:\n  stages:\n    - stage:\n        identifier: build\n        spec: { infrastructure: { environmentRef: ${ref} } }\n`;
  assert.deepEqual(refusals(await create.run(platform, "asked", inputs("nowhere"))), [
    [AT.environment, "No environment 'nowhere' exists (given by the inputs of the run)", 5, 51],
  ]);
  await made(create.run(platform, "asked", inputs("staging")));
});

test("a default that names nothing is refused at the runtime input", async () => {
  await made(create.pipeline(platform, pipeline("fallback", { environment: "<+input>.default(gone)" })));
  assert.deepEqual(refusals(await create.run(platform, "fallback")), [
    [AT.environment, "No environment 'gone' exists", 14, 29],
  ]);
});

test("an expression that is known before the run is resolved, for the check and for the run", async () => {
  const variables =
    "  variables:\n    - { name: where, type: String, value: staging }\n    - { name: again, type: String, value: <+pipeline.variables.where> }\n";
  const known = pipeline(
    "known",
    { environment: '"<+pipeline.variables.again>"', service: '"w<+pipeline.tags.s>"' },
    `  tags: { s: eb }\n${variables}`,
  );
  await made(create.pipeline(platform, known));
  const stage = (await refOf(create.run(platform, "known"))) as {
    spec: { infrastructure: { environmentRef: string }; serviceConfig: { serviceRef: string } };
  };
  assert.deepEqual([stage.spec.infrastructure.environmentRef, stage.spec.serviceConfig.serviceRef], ["staging", "web"]);
  const wrong = pipeline(
    "wrong",
    { environment: '"<+pipeline.variables.where>"' },
    variables.replace("staging", "mars"),
  );
  await made(create.pipeline(platform, wrong));
  assert.deepEqual((refusals(await create.run(platform, "wrong"))[0] as unknown[]).slice(0, 2), [
    AT.environment,
    "No environment 'mars' exists",
  ]);
});

test("an expression that is not known before the run is refused by its path and its reason", async () => {
  const late = {
    sequence: '"<+pipeline.sequenceId>"',
    execution: '"<+pipeline.executionId>"',
    trigger: '"<+trigger.payload.env>"',
    stepped: '"<+execution.steps.go.output.outputVariables.x>"',
    itself: '"<+stage.spec.infrastructure.environmentRef>"',
    through: '"<+pipeline.variables.number>"',
  };
  const variables = "  variables:\n    - { name: number, type: String, value: <+pipeline.sequenceId> }\n";
  for (const [name, environment] of Object.entries(late)) {
    await made(create.pipeline(platform, pipeline(name, { environment }, variables)));
    const [fault] = refusals(await create.run(platform, name)) as [string, string][];
    assert.equal(fault?.[0], AT.environment, name);
    assert.match(
      fault?.[1] ?? "",
      name === "itself" ? /^No environment/ : /^It cannot be resolved before the run: /,
      name,
    );
  }
});

test("a reference may come from a trigger's payload: checked when the webhook is called, not when the trigger is saved", async () => {
  await made(create.pipeline(platform, pipeline("called", { environment: "<+input>" })));
  const inputYaml = `  inputYaml: |
    pipeline:
      stages:
        - stage:
            identifier: build
            spec: { infrastructure: { environmentRef: <+trigger.payload.env> } }
`;
  const { webhookUrl } = await made(create.trigger(platform, "called", triggerYaml("called", "hook", inputYaml)));
  const call = async (env: string) => {
    const { pathname } = new URL(webhookUrl);
    const { eventCorrelationId } = await made(post(pathname, { env }));
    return eventually(async () => {
      const path = `/pipeline/api/webhook/triggerExecutionDetails/${eventCorrelationId}?accountIdentifier=${platform.accountId}`;
      const { webhookProcessingDetails: details } = await made(platform.send("GET", path));
      return details.status === null ? undefined : details;
    });
  };
  assert.equal((await call("staging")).status, "TARGET_EXECUTION_REQUESTED");
  const refused = await call("<+pipeline.name>");
  assert.equal(refused.status, "INVALID_RUNTIME_INPUT_YAML");
  assert.match(
    refused.message,
    /environmentRef: No environment '<\+pipeline\.name>' exists/,
    "a payload brings no expressions",
  );
});

test("a connector of another type is refused when the pipeline is saved, and when it runs", async () => {
  const inShop = "  orgIdentifier: default\n  projectIdentifier: shop\n";
  await made(create.connector(platform, connectorYaml("images", inShop)));
  const message = "Connector 'images' has the type ContainerRegistry; KubernetesDirect needs K8sCluster";
  const naming = (ref: string) => pipeline("typed", { connector: ref });
  assert.deepEqual(refusals(await create.pipeline(platform, naming("images"))), [[AT.connector, message, 17, 37]]);
  await made(create.pipeline(platform, naming("<+input>")));
  const changed = await platform.send("PUT", `/pipeline/api/pipelines/typed?${SCOPE}`, {
    contentType: "application/yaml",
    body: naming("images"),
  });
  assert.deepEqual(refusals(changed), [[AT.connector, message, 17, 37]]);
  const inputs = (ref: string): string =>
    `pipeline:
  stages:
    - stage:
        identifier: build
        spec: { infrastructure: { infrastructureDefinition: { type: KubernetesDirect, spec: { connectorRef: ${ref} } } } }
`;
  const earlier = await runs();
  assert.deepEqual(refusals(await create.run(platform, "typed", inputs("images"))), [
    [AT.connector, `${message} (given by the inputs of the run)`, 5, 109],
  ]);
  assert.deepEqual(await runs(), earlier);
  await made(create.run(platform, "typed", inputs("cluster")));
});

test("saving a pipeline tells nothing of a connector that the author may not see", async () => {
  await made(create.connector(platform, connectorYaml("outer")));
  const inShop = { orgIdentifier: "default", projectIdentifier: "shop" };
  const author = await platform.addUser("_project_admin", inShop);
  const save = (apiKey: string | undefined, identifier: string) =>
    platform.send("POST", `/gateway/pipeline/api/pipelines?${SCOPE}`, {
      ...(apiKey === undefined ? {} : { apiKey }),
      contentType: "application/yaml",
      body: pipeline(identifier, { connector: "account.outer" }),
    });
  await made(save(author, "unseen"));
  assert.equal(refusals(await save(undefined, "seen")).length, 1);
});

test("saving a pipeline asks for nothing that it names", async () => {
  assert.equal((await create.pipeline(platform, pipeline("early", { environment: "later_made" }))).status, 200);
  assert.equal(refusals(await create.run(platform, "early")).length, 1);
  await made(post(`/ng/api/environmentsV2?${SCOPE}`, { name: "L", identifier: "later_made", type: "Production" }));
  await made(create.run(platform, "early"));
  await made(platform.send("DELETE", `/ng/api/environmentsV2/later_made?${SCOPE}`));
  assert.equal(refusals(await create.run(platform, "early")).length, 1, "what was there once is asked for again");
});
