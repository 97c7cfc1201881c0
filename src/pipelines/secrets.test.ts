/** Where a pipeline may ask for secrets, and whose secrets: decided when it is saved, and again when it is started. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTestPlatform, type Answer, type TestPlatform } from "../../test/support/platform.ts";
import { adminOf, secretsOf } from "../../test/support/secrets.ts";
import { createPipelines, SCOPE } from "../../test/support/runs.ts";

import { requireSecrets } from "./secrets.ts";

const JSON_TYPE = "application/json";
let platform: TestPlatform;

before(async () => {
  platform = await startTestPlatform();
  await createPipelines(platform);
  await secret("account_text", {});
  await secret("org_text", { orgIdentifier: "default" });
  await secret("own_text", { orgIdentifier: "default", projectIdentifier: "p" });
  const form = new FormData();
  const input = { secretType: "ENCRYPTED_FILE", encryptedFile: { name: "a_file" } };
  const query = "mutation ($input: CreateSecretInput!) { createSecret(input: $input) { secret { id } } }";
  form.append("query", JSON.stringify({ query, variables: { input } }));
  form.append("file", new Blob(["content of the file"]), "a.txt");
  const made = await platform.send("POST", `/api/graphql?accountId=${platform.accountId}`, { body: form });
  assert.ok(made.body.data?.createSecret, made.text);
});
after(() => platform?.stop());

type Place = { readonly orgIdentifier?: string; readonly projectIdentifier?: string };

async function secret(identifier: string, place: Place): Promise<void> {
  const query = new URLSearchParams(place).toString();
  const spec = {
    secretManagerIdentifier: "platformSecretManager",
    valueType: "Inline",
    value: `value of ${identifier}`,
  };
  const made = await platform.send("POST", `/ng/api/v2/secrets?${query}`, {
    contentType: JSON_TYPE,
    body: JSON.stringify({ secret: { type: "SecretText", name: identifier, identifier, ...place, spec } }),
  });
  assert.equal(made.status, 200, made.text);
}

type Sketch = {
  readonly script?: string;
  readonly env?: readonly object[];
  readonly variables?: readonly object[];
  readonly outputs?: readonly object[];
  readonly more?: string;
};

let nth = 0;

/** A pipeline as YAML. Its script begins in line 30. */
function yaml({ script = "true", env = [], variables = [], outputs = [], more = "" }: Sketch): string {
  nth += 1;
  return `pipeline:
  name: n${nth}
  identifier: n${nth}
  orgIdentifier: default
  projectIdentifier: p
  variables: ${JSON.stringify(variables)}
  ${more}
  stages:
    - stage:
        name: S
        identifier: s
        type: Deployment
        spec:
          serviceConfig: {serviceRef: s}
          infrastructure: {environmentRef: e}
          execution:
            steps:
              - step:
                  type: ShellScript
                  name: X
                  identifier: x
                  spec:
                    shell: Bash
                    environmentVariables: ${JSON.stringify(env)}
                    outputVariables: ${JSON.stringify(outputs)}
                    source:
                      type: Inline
                      spec:
                        script: |
${script.replaceAll(/^/gm, "                          ")}
`;
}

const save = (text: string, apiKey?: string): Promise<Answer> =>
  platform.send("POST", `/pipeline/api/pipelines?${SCOPE}`, {
    contentType: "application/yaml",
    body: text,
    ...(apiKey === undefined ? {} : { apiKey }),
  });

const start = (identifier: string, input = "", apiKey?: string): Promise<Answer> =>
  platform.send("POST", `/pipeline/api/pipeline/execute/${identifier}?${SCOPE}`, {
    contentType: "application/yaml",
    body: input,
    ...(apiKey === undefined ? {} : { apiKey }),
  });

async function saved(sketch: Sketch): Promise<string> {
  const answer = await save(yaml(sketch));
  assert.equal(answer.status, 200, answer.text);
  return `n${nth}`;
}

type Fault = { readonly fqn: string; readonly message: string; readonly line: number; readonly column: number };

async function refused(sketch: Sketch): Promise<Fault> {
  const answer = await save(yaml(sketch));
  assert.equal(answer.status, 400, answer.text);
  assert.equal(answer.body.metadata.schemaErrors.length, 1, answer.text);
  return answer.body.metadata.schemaErrors[0];
}

const of = (name: string): string => `<+secrets.getValue("${name}")>`;

test("every form of reference, in scripts and variables, is taken where the secret is there", async () => {
  await saved({
    script: `curl -H "Authorization: ${of("account.account_text")}" ${of("org.org_text")} ${of("own_text")}\ncat <+secrets.getAsFile("account.a_file")>`,
    env: [
      { name: "A", type: "String", value: `Bearer ${of("account.account_text")}` },
      { name: "B", type: "Secret", value: "own_text" },
    ],
    variables: [{ name: "token", type: "Secret", value: "org.org_text" }],
  });
});

test("a secret that is not there is refused at its place, and so is a file as text", async () => {
  for (const [reference, wrong] of [
    ["account.none", "No secret 'account.none' exists"],
    ["account_text", "No secret 'account_text' exists"],
    ["project.own_text", "No secret 'project.own_text' exists"],
    ["org.account.x", "No secret 'org.account.x' exists"],
    ["account.a_file", "The secret 'account.a_file' is a file: use secrets.getAsFile"],
  ] as const) {
    const fault = await refused({ script: `echo one\necho "${of(reference)}"` });
    assert.equal(fault.message, wrong);
    assert.deepEqual([fault.line, fault.column], [31, 33]);
  }
  const inVariable = await refused({ variables: [{ name: "t", type: "Secret", value: "account.none" }] });
  assert.deepEqual([inVariable.fqn, inVariable.line], ["pipeline.variables[0].value", 6]);
});

test("where Bash would run it as code, or calculate with it, it is refused with line and column", async () => {
  for (const [script, column] of [
    [`bash -c '${of("own_text")}'`, 36],
    [`eval ${of("own_text")}`, 32],
    [`echo $(( ${of("own_text")} ))`, 36],
  ] as const) {
    const fault = await refused({ script });
    assert.match(fault.message, /cannot stand here/);
    assert.deepEqual([fault.line, fault.column], [30, column]);
  }
});

test("Bash calculates with no secret, by its name or by a variable of the type Secret", async () => {
  const variables = [{ name: "token", type: "Secret", value: "own_text" }];
  for (const asked of ["<+pipeline.variables.token>", of("own_text")])
    assert.match(
      (await refused({ variables, script: `(( ${asked} > 1 ))` })).message,
      /cannot be checked to be an integer/,
    );
  await saved({ variables, script: "echo '<+pipeline.variables.token>'" });
});

test("what is stored or shown cannot ask for a secret", async () => {
  const asked = of("own_text");
  const stored = /A secret cannot be a part of what stands here|a secret stands alone|letters, digits/;
  for (const sketch of [
    { more: `description: 'about ${asked}'` },
    { more: `tags: {owner: '${asked}'}` },
    { variables: [{ name: "v", type: "String", value: asked }] },
    { variables: [{ name: "v", type: "String", value: `x ${asked}` }] },
    { script: `echo <+${asked} == "x">` },
    { script: `echo <+secrets.getValue(<+pipeline.name>)>` },
    { script: `echo <+secrets.getValue("own_text").length()>` },
  ])
    assert.match((await refusedAny(sketch)).join("\n"), stored, JSON.stringify(sketch));
});

async function refusedAny(sketch: Sketch): Promise<readonly string[]> {
  const answer = await save(yaml(sketch));
  assert.equal(answer.status, 400, answer.text);
  return answer.body.metadata.schemaErrors.map(({ message }: Fault) => message);
}

test("an output variable is named by the script's variable, never by an expression", async () => {
  const fault = await refused({ outputs: [{ name: "o", type: "String", value: of("own_text") }] });
  assert.match(fault.message, /A name for Bash|A secret cannot/);
});

test("a variable of the type Secret holds a reference, and is read alone", async () => {
  const variables = [{ name: "token", type: "Secret", value: "own_text" }];
  for (const value of ["<+secrets.getValue('own_text')>", "<+pipeline.name>", "two words", "", 5])
    assert.match(
      (await refused({ variables: [{ name: "t", type: "Secret", value }] })).message,
      /is the reference of a secret, as in account\.name/,
    );
  await saved({
    variables,
    script: 'echo "<+pipeline.variables.token>"',
    env: [{ name: "A", type: "String", value: "x <+pipeline.variables.token>" }],
  });
  const inText = await refused({ variables, script: 'echo one\necho "<+pipeline.variables.token.length()>"' });
  assert.match(inText.message, /'pipeline\.variables\.token' is a secret: it stands alone/);
  assert.equal(inText.line, 31);
  const copied = await refused({
    variables: [...variables, { name: "c", type: "String", value: "<+pipeline.variables.token>" }],
  });
  assert.match(copied.message, /'pipeline\.variables\.token' is a secret, and what stands here is stored/);
});

test("the start asks again, of whoever starts: what is gone, and what came with the inputs", async () => {
  const identifier = await saved({
    variables: [{ name: "token", type: "Secret", value: "<+input>" }],
    script: 'echo "<+pipeline.variables.token>"',
  });
  const input = (reference: string): string =>
    `pipeline:\n  identifier: ${identifier}\n  variables:\n    - name: token\n      type: Secret\n      value: ${reference}\n`;
  assert.equal((await start(identifier, input("own_text"))).status, 200);
  const missing = await start(identifier, input("account.none"));
  assert.equal(missing.status, 400);
  const [fault] = missing.body.metadata.schemaErrors;
  assert.deepEqual(
    [fault.message, fault.line],
    ["No secret 'account.none' exists (given by the inputs of the run)", 6],
  );
  const [stored] = await platform.db.query<{ text: string }>(
    "select plan::text || header::text as text from executions where account_id is not null order by created_at desc limit 1",
  );
  assert.match(stored?.text ?? "", /secrets\.getValue\(\\"own_text\\"\)/);
});

test("who may not see the secret learns only that there is none, saving and starting", async () => {
  const identifier = await saved({ script: `echo ${of("account.account_text")}` });
  const inProject = { orgIdentifier: "default", projectIdentifier: "p" };
  const executor = await platform.addUser("_pipeline_executor", inProject);
  const started = await start(identifier, "", executor);
  assert.equal(started.status, 400, started.text);
  assert.match(started.body.message, /No secret 'account\.account_text' exists/);
  const admin = await platform.addUser("_project_admin", inProject);
  const sent = await save(yaml({ script: `echo ${of("account.account_text")}` }), admin);
  assert.equal(sent.status, 400, sent.text);
  assert.match(sent.body.message, /No secret 'account\.account_text' exists/);
  assert.equal((await save(yaml({ script: `echo ${of("own_text")}` }), admin)).status, 200);
});

test("who may see the secret and not use it is told so, and what is missing comes first", async () => {
  const { checkUses } = secretsOf(platform);
  const scope = { orgIdentifier: "default", projectIdentifier: "p" };
  const permissions = new Set(["core_secret_view"]);
  const actor = { ...adminOf(platform), grants: [{ scope, children: true, permissions, resources: "all" as const }] };
  const uses = [
    { reference: "own_text", as: "value" as const },
    { reference: "none", as: "file" as const },
    { reference: "account.account_text", as: "value" as const },
  ];
  const answers = await checkUses(actor, scope, uses);
  assert.deepEqual(
    answers.map((answer) => answer?.kind),
    ["refused", "missing", "missing"],
  );
  const asked = uses.map((use) => ({ ...use, path: "p", position: undefined, inInputs: false }));
  await assert.rejects(requireSecrets(checkUses, actor, scope, asked.slice(0, 1)), {
    code: "pipeline.secret_refused",
    status: 403,
  });
  await assert.rejects(requireSecrets(checkUses, actor, scope, asked), {
    code: "pipeline.bad_references",
    status: 400,
  });
});

test("a trigger and an input set cannot bring a secret that their author may not use", async () => {
  const identifier = await saved({
    variables: [{ name: "token", type: "Secret", value: "<+input>" }],
    script: 'echo "<+pipeline.variables.token>"',
  });
  const admin = await platform.addUser("_project_admin", { orgIdentifier: "default", projectIdentifier: "p" });
  const set = (name: string, reference: string): Promise<Answer> =>
    platform.send("POST", `/pipeline/api/inputSets?${SCOPE}&pipelineIdentifier=${identifier}`, {
      contentType: "application/yaml",
      apiKey: admin,
      body: `inputSet:\n  name: ${name}\n  identifier: ${name}\n  orgIdentifier: default\n  projectIdentifier: p\n  pipeline:\n    identifier: ${identifier}\n    variables:\n      - name: token\n        type: Secret\n        value: ${reference}\n`,
    });
  const refusedSet = await set("one", "account.account_text");
  assert.equal(refusedSet.status, 400, refusedSet.text);
  assert.match(refusedSet.body.message, /No secret 'account\.account_text' exists/);
  const takenSet = await set("two", "own_text");
  assert.equal(takenSet.status, 200, takenSet.text);
});

test("a secret stays as long as a pipeline names it", async () => {
  await secret("kept", {});
  const identifier = await saved({ script: `echo ${of("account.kept")}` });
  const remove = (): Promise<Answer> => platform.send("DELETE", "/ng/api/v2/secrets/kept");
  assert.match((await remove()).text, new RegExp(`pipeline ${identifier} of project p`));
  const changed = await platform.send("PUT", `/pipeline/api/pipelines/${identifier}?${SCOPE}`, {
    contentType: "application/yaml",
    body: yaml({}).replaceAll(`n${nth}`, identifier),
  });
  assert.equal(changed.status, 200, changed.text);
  assert.equal((await remove()).status, 200);
  await secret("kept", {});
  const other = await saved({ script: `echo ${of("account.kept")}` });
  assert.equal((await platform.send("DELETE", `/pipeline/api/pipelines/${other}?${SCOPE}`)).status, 200);
  assert.equal((await remove()).status, 200);
});
