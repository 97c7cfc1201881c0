/** What is refused when a run with chained pipelines starts, each with its place in the document around it. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";
import { createPipelines, detailOf, SCOPE } from "../../../test/support/runs.ts";

const YAML = "application/yaml";
let platform: TestPlatform;

before(async () => {
  platform = await startTestPlatform();
  await createPipelines(platform);
  await post("/ng/api/projects?orgIdentifier=default", {
    project: { name: "Q", identifier: "q", orgIdentifier: "default" },
  });
  await secret("own_q", "q");
  await secret("own_p", "p");
});
after(() => platform?.stop());

async function post(path: string, body: object | string): Promise<Answer["body"]> {
  const [text, contentType] = typeof body === "string" ? [body, YAML] : [JSON.stringify(body), "application/json"];
  const answer = await platform.send("POST", path, { contentType, body: text });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

function secret(identifier: string, projectIdentifier: string) {
  const place = { orgIdentifier: "default", projectIdentifier };
  const spec = { secretManagerIdentifier: "platformSecretManager", valueType: "Inline", value: "v" };
  const body = { secret: { type: "SecretText", name: identifier, identifier, ...place, spec } };
  return post(`/ng/api/v2/secrets?${new URLSearchParams(place).toString()}`, body);
}

const script = (text = "true"): string =>
  `{step: {type: ShellScript, name: X, identifier: x, spec: {shell: Bash, onDelegate: true, source: {type: Inline, spec: {script: '${text}'}}}}}`;
const custom = (identifier: string, text?: string, more = ""): string =>
  `    - stage: {name: S, identifier: ${identifier}, type: Custom, ${more}spec: {execution: {steps: [${script(text)}]}}}\n`;

let nth = 0;

/** The lines of a pipeline up to its stages are always as many; its first stage begins in line 8. */
const pipeline = (name: string, project: string, stages: string, variables = "[]"): string =>
  `pipeline:\n  name: ${name}\n  identifier: ${name}\n  orgIdentifier: default\n  projectIdentifier: ${project}\n  variables: ${variables}\n  stages:\n${stages}`;

const save = (text: string, project = "p"): Promise<Answer["body"]> =>
  post(`/pipeline/api/pipelines?orgIdentifier=default&projectIdentifier=${project}`, text);

/** A stage whose fields stand in lines 9 to 16: `pipeline` in line 15, then what is given. */
const chain = (child: string, more = "", project = "p", identifier = "c", around = ""): string =>
  `    - stage:\n        name: C\n        identifier: ${identifier}\n        type: Pipeline\n${around}        spec:\n          org: default\n          project: ${project}\n          pipeline: ${child}\n${more}`;

const given = (variables: string): string => `          inputs: {variables: [${variables}]}\n`;

async function child(variables: string, text?: string, project = "p"): Promise<string> {
  const name = `child${(nth += 1)}`;
  await save(pipeline(name, project, custom("s", text), variables), project);
  return name;
}

async function parent(stages: string, variables?: string): Promise<string> {
  const name = `parent${(nth += 1)}`;
  await save(pipeline(name, "p", stages, variables));
  return name;
}

const start = (name: string, { body = "", apiKey = platform.apiKey } = {}): Promise<Answer> =>
  platform.send("POST", `/pipeline/api/pipeline/execute/${name}?${SCOPE}`, { contentType: YAML, body, apiKey });

async function refused(name: string, how: Parameters<typeof start>[1] = {}) {
  const { status, body, text } = await start(name, how);
  assert.equal(status, 400, text);
  const [fault] = body.metadata?.schemaErrors ?? [];
  return {
    message: body.message as string,
    at: fault && `${fault.fqn} ${fault.line}:${fault.column}`,
    fault: fault?.message,
  };
}

test("a pipeline that does not exist is told with its place, and the pipeline is saved all the same", async () => {
  const { message, at } = await refused(await parent(chain("nothing")));
  assert.match(
    message,
    /^Stage 'c' cannot run pipeline 'nothing': .*No pipeline 'nothing' exists in project 'p' of organization 'default'/,
  );
  assert.equal(at, "pipeline.stages[0].stage.spec.pipeline 15:21");
});

test("a deleted pipeline is missing at the next start", async () => {
  const name = await child("[]");
  const caller = await parent(chain(name));
  assert.equal((await start(caller)).status, 200);
  await platform.send("DELETE", `/pipeline/api/pipelines/${name}?${SCOPE}`);
  assert.match((await refused(caller)).message, /No pipeline 'child\d+' exists/);
});

test("a pipeline that would run in itself is refused, also with others between", async () => {
  await save(pipeline("self", "p", chain("self")));
  assert.match(
    (await refused("self")).message,
    /^Stage 'c' cannot run pipeline 'self': The pipeline cannot be chained: it would run in itself/,
  );
  await save(pipeline("ping", "p", chain("pong")));
  await save(pipeline("pong", "p", chain("ping")));
  const { message, at } = await refused("ping");
  assert.match(
    message,
    /^Stage 'c' cannot run pipeline 'pong': Stage 'c' cannot run pipeline 'ping': .*it would run in itself/,
  );
  assert.equal(at, "pipeline.stages[0].stage.spec.pipeline 15:21");
});

test("pipelines are chained three deep", async () => {
  let name = await child("[]");
  for (let depth = 1; depth <= 3; depth += 1) name = await parent(chain(name));
  assert.equal((await start(name)).status, 200);
  assert.match((await refused(await parent(chain(name)))).message, /chained 3 deep at most \(limit chainDepth\)/);
});

test("a run has 50 stages that run a pipeline", async () => {
  const name = await child("[]");
  const all = (count: number): string =>
    Array.from({ length: count }, (_, at) => chain(name, "", "p", `c${at}`)).join("");
  assert.equal((await start(await parent(all(50)))).status, 200);
  assert.match((await refused(await parent(all(51)))).message, /at most 50 stages .*\(limit chainedPipelines\)/);
});

test("the documents of chained pipelines have a limit together", async () => {
  const name = `wide${(nth += 1)}`;
  await save(`${pipeline(name, "p", custom("s"))}# ${"x".repeat(2_200_000)}\n`);
  assert.equal((await start(await parent(chain(name)))).status, 200);
  const twice = await parent(chain(name) + chain(name, "", "p", "d"));
  assert.match((await refused(twice)).message, /at most 4194304 characters \(limit chainedCharacters\)/);
});

test("the nodes of all pipelines count, with their repetitions", async () => {
  const name = `large${(nth += 1)}`;
  await save(pipeline(name, "p", Array.from({ length: 20 }, (_, at) => custom(`s${at}`)).join("")));
  const looped = (times: number): string =>
    chain(name, "", "p", "c", `        strategy: {repeat: {times: ${times}}}\n`);
  assert.equal((await start(await parent(looped(40)))).status, 200);
  assert.match(
    (await refused(await parent(looped(256)))).message,
    /An execution has at most 5000 nodes \(limit nodesPerExecution\)/,
  );
});

const INPUTS: readonly (readonly [what: string, variables: string, given: string, message: RegExp, at: string])[] = [
  [
    "a missing input",
    "[{name: a, type: String, value: <+input>}]",
    "",
    /pipeline\.variables\[0\]\.value/,
    "spec.pipeline 15:21",
  ],
  [
    "a value that is not allowed",
    "[{name: a, type: String, value: '<+input>.allowedValues(x,y)'}]",
    given("{name: a, type: String, value: z}"),
    /'z' is not one of the allowed values: x, y/,
    "spec.inputs.variables[0].value 16:63",
  ],
  [
    "an unknown variable",
    "[]",
    given("{name: a, type: String, value: z}"),
    /The pipeline has no/,
    "spec.inputs.variables[0] 16:32",
  ],
  [
    "a value for what is fixed",
    "[{name: a, type: String, value: x}]",
    given("{name: a, type: String, value: z}"),
    /This is fixed by the pipeline/,
    "spec.inputs.variables[0].value 16:63",
  ],
  [
    "an expression for what is fixed",
    "[{name: a, type: String, value: x}]",
    given("{name: a, type: String, value: <+pipeline.name>}"),
    /This is fixed by the pipeline/,
    "spec.inputs.variables[0].value 16:63",
  ],
  [
    "an expression for an unknown variable",
    "[]",
    given("{name: b, type: String, value: <+pipeline.name>}"),
    /The pipeline has no 'b' here/,
    "spec.inputs.variables[0].value 16:63",
  ],
  [
    "an expression that chooses a secret",
    "[{name: a, type: Secret, value: <+input>}]",
    given("{name: a, type: Secret, value: <+pipeline.name>}"),
    /The reference of a secret is written out/,
    "spec.inputs.variables[0].value 16:63",
  ],
  [
    "a secret that is not named as one",
    "[{name: a, type: Secret, value: <+input>}]",
    given("{name: a, value: own_p}"),
    /Beside the reference of a secret stands 'type: Secret'/,
    "spec.inputs.variables[0].value 16:49",
  ],
  [
    "text for a number",
    "[{name: a, type: Number, value: <+input>}]",
    given("{name: a, type: Number, value: <+pipeline.name>}"),
    /Expected a number/,
    "spec.inputs.variables[0].value 16:63",
  ],
];

for (const [what, variables, more, message, at] of INPUTS)
  test(`${what} is refused at its place`, async () => {
    const told = await refused(await parent(chain(await child(variables), more)));
    assert.match(told.message, message);
    assert.equal(told.at, `pipeline.stages[0].stage.${at}`);
  });

const trySave = (text: string, apiKey = platform.apiKey): Promise<Answer> =>
  platform.send("POST", `/pipeline/api/pipelines?${SCOPE}`, { contentType: YAML, body: text, apiKey });

test("who saves a stage that runs a pipeline may execute that, and may use the secrets that the stage gives", async () => {
  const inQ = await child("[{name: a, type: Secret, value: <+input>}]", "true", "q");
  const gives = (value: string, project = "q"): string =>
    pipeline(`gives${(nth += 1)}`, "p", chain(inQ, given(`{name: a, type: Secret, value: ${value}}`), project));
  const wrong = await trySave(gives("own_p"));
  assert.match(wrong.text, /variables\[0\]\.value: No secret 'own_p' exists/);
  assert.equal((await trySave(gives("'<+input>.default(own_p)'"))).status, 400);
  assert.equal((await trySave(gives("own_q"))).status, 200);
  const editor = await platform.addUser("_project_admin", { orgIdentifier: "default", projectIdentifier: "p" });
  const other = await trySave(gives("own_q"), editor);
  assert.equal(other.status, 403, other.text);
  assert.match(other.text, /Stage 'c' cannot run pipeline 'child\d+': Missing permission core_pipeline_execute/);
  assert.match((await trySave(gives("account.x", "p"), editor)).text, /No secret 'account.x' exists/);
  assert.equal((await trySave(gives("own_p", "p"), editor)).status, 200);
});

test("a secret is refused where it is not named as one, also if the stage names it elsewhere", async () => {
  const SECRETS = "[{name: a, type: Secret, value: <+input>}, {name: b, type: Secret, value: <+input>}]";
  const b = "{name: b, type: Secret, value: own_p}";
  const caller = await parent(chain(await child(SECRETS), given(`${b}, {name: a, value: own_p}`)));
  assert.match((await refused(caller)).message, /variables\[0\]\.value: Beside the reference of a secret/);
  const named = await parent(chain(await child(SECRETS), given(`${b}, {name: a, type: Secret, value: own_p}`)));
  assert.equal((await start(named)).status, 200);
});

test("a secret for a pipeline that the chained one runs is refused, also without its type", async () => {
  const inner = await child("[{name: a, type: Secret, value: <+input>}]", "true", "q");
  const open = chain(inner, given("{name: a, type: Secret, value: <+input>}"), "q", "inner");
  const middle = `middle${(nth += 1)}`;
  await save(pipeline(middle, "p", open, "[{name: b, type: Secret, value: <+input>}]"));
  await secret("own_q", "p");
  const nested = "stages: [{stage: {identifier: inner, spec: {inputs: {variables: [{name: a, value: own_q}]}}}}]";
  const inputs = `{variables: [{name: b, type: Secret, value: own_q}], ${nested}}`;
  const { message } = await refused(await parent(chain(middle, `          inputs: ${inputs}\n`)));
  assert.match(message, /A secret or credential for a pipeline that the chained pipeline runs itself/);
});

test("secrets and references start from the project of the chained pipeline", async () => {
  const inQ = await child("[]", 'echo "<+secrets.getValue("own_q")>"', "q");
  assert.equal((await start(await parent(chain(inQ, "", "q")))).status, 200);
  const name = `deploys${(nth += 1)}`;
  const deployment = `    - stage: {name: S, identifier: s, type: Deployment, spec: {serviceConfig: {serviceRef: s}, infrastructure: {environmentRef: e}, execution: {steps: [${script()}]}}}\n`;
  await save(pipeline(name, "q", deployment), "q");
  assert.match((await refused(await parent(chain(name, "", "q")))).message, /No service 's' exists/);
});

test("input sets of the chained pipeline are merged, and the inputs of the stage win", async () => {
  const name = await child("[{name: a, type: String, value: <+input>}, {name: b, type: Number, value: <+input>}]");
  const set = `inputSet:\n  name: Usual\n  identifier: usual\n  orgIdentifier: default\n  projectIdentifier: p\n  pipeline:\n    identifier: ${name}\n    variables:\n      - { name: a, type: String, value: of the set }\n      - { name: b, type: Number, value: 7 }\n`;
  await post(`/pipeline/api/inputSets?${SCOPE}&pipelineIdentifier=${name}`, set);
  const sets = "          inputSetReferences: [usual]\n";
  const values = async (more: string): Promise<string> => {
    const { body, status, text } = await start(await parent(chain(name, sets + more)));
    assert.equal(status, 200, text);
    const [row] = await platform.db.query<{ plan: { chained: Record<string, { pipeline: { variables: object } }> } }>(
      "select plan from executions order by id desc limit 1",
    );
    assert.ok(body.data && row);
    return JSON.stringify(Object.values(row.plan.chained)[0]?.pipeline.variables);
  };
  assert.equal(await values(""), '{"a":"of the set","b":7}');
  assert.equal(
    await values(given("{name: a, type: String, value: <+pipeline.name.length() > 0>}")),
    '{"a":"true","b":7}',
  );
  assert.equal(await values(given("{name: a, type: String, value: <+stage.status>}")), '{"b":7}');
  const unknown = await refused(await parent(chain(name, "          inputSetReferences: [none]\n")));
  assert.match(unknown.message, /Input sets that pipeline \[child\d+\] does not have: none/);
});

test("runtime inputs may stand in what a stage gives", async () => {
  const name = await child("[{name: a, type: String, value: <+input>}]");
  const open = chain(name, given("{name: a, type: String, value: <+input>}"));
  const caller = await parent(open);
  assert.match((await refused(caller)).message, /spec\.inputs\.variables\[0\]\.value/);
  const filled = open.replace("<+input>", "<+pipeline.identifier>");
  const body = `pipeline:\n  identifier: ${caller}\n  stages:\n${filled.replaceAll(/^ {8}name: C\n/gm, "")}`;
  const { status, body: answer, text } = await start(caller, { body });
  assert.equal(status, 200, text);
  const { graph } = await detailOf(platform, answer.data.planExecution.uuid);
  assert.ok(graph);
  const [row] = await platform.db.query<{ variables: string }>(
    "select jsonb_path_query_first(plan::jsonb, '$.chained.*.pipeline.variables')::text as variables from executions order by id desc limit 1",
  );
  assert.deepEqual(JSON.parse(row?.variables ?? "{}"), { a: caller });
});

test("the value of an expression is data: it is not evaluated again", async () => {
  const name = await child("[{name: a, type: String, value: <+input>}]");
  const variables = "[{name: v, type: String, value: <+input>}]";
  const caller = await parent(chain(name, given("{name: a, type: String, value: <+pipeline.variables.v>}")), variables);
  const text = `<+"<" + "+account.identifier">>`;
  const body = `pipeline:\n  identifier: ${caller}\n  variables:\n    - {name: v, type: String, value: '${text}'}\n`;
  const { status, body: started, text: answer } = await start(caller, { body });
  assert.equal(status, 200, answer);
  const { step } = await detailOf(platform, started.data.planExecution.uuid);
  assert.deepEqual(step(name)["outcomes"], {
    output: { outputVariables: {}, variables: { a: "<+account.identifier>" } },
  });
});

test("a run needs the permission to execute the chained pipeline, and does not tell of one that may not be seen", async () => {
  const name = await child("[]", "true", "q");
  const caller = await parent(chain(name, "", "q"));
  const place = { orgIdentifier: "default", projectIdentifier: "p" };
  const apiKey = await platform.addUser("_pipeline_executor", place);
  assert.match((await refused(caller, { apiKey })).message, new RegExp(`No pipeline '${name}' exists in project 'q'`));
});

test("a repeated stage cannot run a pipeline with barriers", async () => {
  const name = `barred${(nth += 1)}`;
  const barrier = (id: string): string =>
    `{step: {type: Barrier, name: ${id}, identifier: ${id}, spec: {barrierRef: b}}}`;
  const stages = `    - stage: {name: S, identifier: s, type: Custom, spec: {execution: {steps: [{parallel: [${barrier("x")}, ${barrier("y")}]}]}}}\n`;
  await save(`${pipeline(name, "p", stages)}  flowControl: {barriers: [{name: B, identifier: b}]}\n`);
  assert.equal((await start(await parent(chain(name)))).status, 200);
  const looped = await parent(chain(name, "", "p", "c", "        strategy: {repeat: {times: 2}}\n"));
  assert.match((await refused(looped)).message, /it has Barrier steps, and the stage has a strategy/);
});
