/** The form of a run: its fields, a run with values in their places, and the check of given inputs. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { parse, parseDocument } from "yaml";
import type { z } from "zod";
import {
  create,
  createTargets,
  inputSetYaml,
  JSON_TYPE,
  made,
  projectYaml,
  SCOPE,
} from "../../../test/support/contract.ts";
import type { inputShape } from "./wire.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";

const FORM = `pipeline:
  name: Form
  identifier: form
  orgIdentifier: default
  projectIdentifier: shop
  variables:
    - { name: fixed, type: String, value: x }
    - { name: who, type: String, description: Who is greeted, value: <+input> }
    - { name: count, type: Number, default: 3, value: <+input> }
    - { name: size, type: String, value: "<+input>.selectOneFrom(s,m,l).default(m)" }
    - { name: colours, type: String, required: false, value: "<+input>.selectManyFrom(red,green)" }
    - { name: token, type: Secret, value: <+input> }
    - { name: tag, type: String, required: true, value: '<+input>.regex(v\\d+)' }
  delegateSelectors: <+input>.default(linux)
  stages:
    - stage:
        name: Plain
        identifier: plain
        type: Custom
        spec: { execution: { steps: [{ step: { type: Wait, name: W, identifier: w, spec: { duration: 10s } } }] } }
    - stage:
        name: Deploy
        identifier: deploy
        type: Deployment
        failureStrategies: []
        spec:
          serviceConfig: { serviceRef: <+input>.default(web) }
          infrastructure: { environmentRef: <+input>.default(staging) }
          execution:
            steps:
              - stepGroup:
                  name: Group
                  identifier: group
                  steps:
                    - step:
                        type: Wait
                        name: Pause
                        identifier: pause
                        timeout: <+input>.default(10m)
                        spec: { duration: <+input>.executionInput().default(10s) }
`;

let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
  await made(create.pipeline(platform, FORM));
  await made(
    create.inputSet(
      platform,
      "form",
      inputSetYaml("form", "basic", "    variables: [{ name: who, value: Ada }, { name: tag, value: v1 }]\n"),
    ),
  );
});
after(() => platform?.stop());

type Input = z.output<typeof inputShape>;
const PATH = "/pipeline/api/pipelines/form/runtimeInputs";
const read = (): Promise<{ inputs: readonly Input[]; inputSetTemplateYaml: string; version: number }> =>
  made(platform.send("GET", `${PATH}?${SCOPE}`));

test("each runtime input has its rules, its node and its place in the template", async () => {
  const { inputs, version } = await read();
  assert.equal(version, 1);
  const short = inputs.map(
    ({
      name,
      type,
      required,
      default: usual,
      allowedValues,
      multiple,
      regex,
      executionInput,
      stage,
      stepGroup,
      step,
    }) => [
      ...[name, type, required, usual],
      [allowedValues?.join(), multiple && "many", regex, executionInput && "asked"].filter(Boolean).join(" "),
      [stage, stepGroup, step].flatMap((one) => (one ? [one.identifier] : [])).join("/"),
    ],
  );
  assert.deepEqual(short, [
    ["who", "String", true, null, "", ""],
    ["count", "Number", false, "3", "", ""],
    ["size", "String", false, "m", "s,m,l", ""],
    ["colours", "String", false, "", "red,green many", ""],
    ["token", "Secret", true, null, "", ""],
    ["tag", "String", true, null, "v\\d+", ""],
    ["delegateSelectors", "DelegateSelectors", false, "linux", "", ""],
    ["serviceRef", "Service", false, "web", "", "deploy"],
    ["environmentRef", "Environment", false, "staging", "", "deploy"],
    ["timeout", "String", false, "10m", "", "deploy/group/pause"],
    ["duration", "String", false, "10s", "asked", "deploy/group/pause"],
  ]);
  assert.equal(inputs[0]?.description, "Who is greeted");
});

type Fields = Readonly<Record<string, unknown>>;

test("the places lead to the runtime inputs of the pipeline and of the template", async () => {
  const { inputs, inputSetTemplateYaml } = await read();
  const at = (yaml: string, fqn: string): unknown =>
    (fqn.match(/\w+/g) ?? []).reduce((value, key) => (value as Fields)[key], parse(yaml) as unknown);
  for (const { fqn, templateFqn, executionInput } of inputs) {
    assert.match(String(at(FORM, fqn)), /^<\+input>/, fqn);
    if (executionInput) assert.equal(templateFqn, null, fqn);
    else assert.equal(at(inputSetTemplateYaml, templateFqn ?? ""), at(FORM, fqn), fqn);
  }
  assert.equal(
    inputs.at(-2)?.templateFqn,
    "pipeline.stages[0].stage.spec.execution.steps[0].stepGroup.steps[0].step.timeout",
  );
});

/** The template with values in the places of its inputs, as a form sends it. */
async function filledTemplate(values: Readonly<Record<string, string>>): Promise<string> {
  const { inputs, inputSetTemplateYaml } = await read();
  const document = parseDocument(inputSetTemplateYaml);
  for (const { name, templateFqn } of inputs)
    if (values[name] !== undefined)
      document.setIn(
        (templateFqn?.match(/\w+/g) ?? []).map((part) => (/^\d+$/.test(part) ? Number(part) : part)),
        values[name],
      );
  return document.toString();
}

const validate = (body: object, apiKey?: string) =>
  platform.send("POST", `${PATH}/validate?${SCOPE}`, {
    ...{ contentType: JSON_TYPE, body: JSON.stringify(body) },
    ...(apiKey !== undefined && { apiKey }),
  });

type Fault = Readonly<Record<"code" | "fqn" | "message" | "line", unknown>>;
const faultsOf = async (body: object): Promise<readonly string[]> =>
  (await made(validate(body))).faults.map(({ fqn, message }: Fault) => `${String(fqn)}: ${String(message)}`);

test("missing and wrong values are told with their places, as a start tells them; nothing is started", async () => {
  const missing = "This runtime input has no value";
  assert.deepEqual(
    await faultsOf({}),
    [1, 5, 6].map((nth) => `pipeline.variables[${nth}].value: ${missing}`),
  );
  const wrong = await filledTemplate({ who: "Ada", size: "xl", token: "nowhere", tag: "1" });
  assert.deepEqual(await faultsOf({ runtimeInputYaml: wrong }), [
    "pipeline.variables[2].value: 'xl' is not one of the allowed values: s, m, l",
    "pipeline.variables[5].value: '1' does not match the pattern v\\d+",
  ]);
  const unknown = await filledTemplate({ who: "Ada", token: "nowhere", tag: "v1", serviceRef: "api" });
  assert.deepEqual(await faultsOf({ runtimeInputYaml: unknown }), [
    "pipeline.variables[5].value: No secret 'nowhere' exists (given by the inputs of the run)",
  ]);
  const started = await platform.send("POST", `/pipeline/api/pipeline/execute/form?${SCOPE}`, {
    ...{ contentType: "application/yaml", body: wrong },
  });
  assert.equal(started.status, 400);
  const [{ count }] = (await platform.db.query("select count(*) from executions")) as [{ count: number }];
  assert.equal(count, 0);
});

test("right values pass, also from input sets, and start a run", async () => {
  const secret = {
    type: "SecretText",
    name: "key",
    identifier: "key",
    orgIdentifier: "default",
    projectIdentifier: "shop",
  };
  const spec = { valueType: "Inline", value: "v", secretManagerIdentifier: "platformSecretManager" };
  const body = JSON.stringify({ secret: { ...secret, spec } });
  await made(platform.send("POST", `/ng/api/v2/secrets?${SCOPE}`, { contentType: JSON_TYPE, body }));
  const values = await filledTemplate({ token: "key", size: "l", colours: "red,green" });
  const given = { inputSetReferences: ["basic"], runtimeInputYaml: values };
  assert.deepEqual(await made(validate(given)), { valid: true, faults: [] });
  const all = await filledTemplate({ who: "Ada", token: "key", tag: "v2" });
  const run = await create.run(platform, "form", all);
  assert.equal(run.status, 200, run.text);
  const absent = await made(validate({ inputSetReferences: ["nowhere"] }));
  assert.equal(absent.valid, false);
  assert.match(absent.faults[0].message, /nowhere/);
});

test("who may not run the pipeline does not check inputs, and a pipeline that does not exist is 404", async () => {
  const viewer = await platform.addUser("_project_viewer", { orgIdentifier: "default", projectIdentifier: "shop" });
  const refused = await validate({}, viewer);
  assert.equal(refused.status, 403, refused.text);
  const absent = await platform.send("POST", `/pipeline/api/pipelines/nowhere/runtimeInputs/validate?${SCOPE}`);
  assert.equal(absent.status, 404, absent.text);
});
