/** The JSON Schemas of documents, over the public interface and against the documents of this repository. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { glob } from "node:fs/promises";
import { after, before, test } from "node:test";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { parse } from "yaml";
import { inputSetYaml, overlayYaml, pipelineYaml, triggerYaml } from "../../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import { SAMPLE } from "../document/sample.ts";

let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
});
after(() => platform?.stop());

const PATH = "/pipeline/api/yaml-schema";
const TYPES = ["Pipelines", "InputSets", "OverlayInputSets", "Triggers"] as const;

async function schemaOf(type: string): Promise<Record<string, unknown>> {
  const { status, body, text } = await platform.send("GET", `${PATH}?entityType=${type}`);
  assert.equal(status, 200, text);
  return body.data;
}

const validator = async (type: string): Promise<ValidateFunction> =>
  new Ajv2020({ strict: false, allErrors: true }).compile(await schemaOf(type));

function accepts(fits: ValidateFunction, yaml: string, name = yaml): void {
  assert.ok(fits(parse(yaml)), `${name}: ${JSON.stringify(fits.errors?.slice(0, 3))}`);
}

test("a client that knows the schema gets 304, another the schema", async () => {
  const first = await platform.send("GET", `${PATH}?entityType=Pipelines`);
  const etag = first.headers.get("etag") ?? "";
  assert.match(etag, /^W\/"[\w-]{22}"$/);
  const again = await platform.send("GET", `${PATH}?entityType=Pipelines`, { headers: { "if-none-match": etag } });
  assert.deepEqual([again.status, again.text, again.headers.get("etag")], [304, "", etag]);
  const other = await platform.send("GET", `${PATH}?entityType=Triggers`, { headers: { "if-none-match": etag } });
  assert.equal(other.status, 200);
  assert.notEqual(other.headers.get("etag"), etag);
});

test("an unknown type is refused by name", async () => {
  for (const query of ["", "?entityType=Connectors"]) {
    const { status, body } = await platform.send("GET", `${PATH}${query}`);
    assert.equal(status, 400);
    assert.match(body.message, /entityType.*Pipelines InputSets OverlayInputSets Triggers/);
  }
});

/** Paths of the fields in which a schema explains nothing. */
function unexplained(value: unknown, path: string): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  const { properties = {} } = value as { readonly properties?: Record<string, { readonly description?: string }> };
  const own = Object.entries(properties).flatMap(([name, { description }]) => (description ? [] : [`${path}.${name}`]));
  return [...own, ...Object.entries(value).flatMap(([key, part]) => unexplained(part, `${path}/${key}`))];
}

test("each field has a description, and the schemas are small", async () => {
  for (const type of TYPES) {
    const schema = await schemaOf(type);
    assert.deepEqual(unexplained(schema, type), []);
    assert.ok(JSON.stringify(schema).length < 64 * 1024, type);
  }
});

test("the pipelines of the examples and of the contract fit", async () => {
  const fits = await validator("Pipelines");
  accepts(fits, SAMPLE);
  accepts(fits, pipelineYaml("x", "<+input>"));
  let count = 0;
  for await (const file of glob("examples/*/{pipeline,deploy}.yaml")) {
    accepts(fits, readFileSync(file, "utf8"), file);
    count += 1;
  }
  assert.ok(count > 10, String(count));
});

test("what saving refuses for its form does not fit", async () => {
  const fits = await validator("Pipelines");
  for (const [piece, replacement] of [
    ["type: ShellScript", "type: Shell"],
    ["shell: Bash", "shell: Fish"],
    ["name: Greet\n", "nam: Greet\n"],
    ["errors:\n                - AllErrors", "errors:\n                - Everything"],
    ["  stages:", "  notificationRules: []\n  stages:"],
  ] as const) {
    assert.ok(SAMPLE.includes(piece), piece);
    assert.equal(fits(parse(SAMPLE.replace(piece, replacement))), false, replacement);
  }
});

test("step groups nest, and what stands in them is checked", async () => {
  const fits = await validator("Pipelines");
  const nested = (type: string): object => {
    let item: object = { step: { type, name: "W", identifier: "w", spec: { duration: "10s" } } };
    for (let depth = 0; depth < 5; depth += 1) item = { stepGroup: { name: "g", identifier: "g", steps: [item] } };
    const spec = { execution: { steps: [item] } };
    const stage = { name: "s", identifier: "s", type: "Custom", spec };
    return { pipeline: { name: "p", identifier: "p", stages: [{ stage }] } };
  };
  assert.ok(fits(nested("Wait")), JSON.stringify(fits.errors));
  assert.equal(fits(nested("Http")), false);
  assert.equal(fits({ pipeline: { name: "p", identifier: "p", stages: [] } }), false);
});

test("triggers, overlays and input sets fit, which give a part of the pipeline", async () => {
  accepts(await validator("Triggers"), triggerYaml("deploy", "hook", "  inputYaml: 'pipeline: {}'\n"));
  accepts(await validator("OverlayInputSets"), overlayYaml("weekly", "a, b"));
  const fits = await validator("InputSets");
  accepts(fits, inputSetYaml("deploy", "basic", "    variables: [{ name: who, value: 3 }]\n    timeout: 10m\n"));
  accepts(fits, inputSetYaml("deploy", "none"));
  assert.equal(fits(parse(inputSetYaml("deploy", "basic", "    variable: []\n"))), false);
  assert.equal(fits({ inputSet: { identifier: "x" } }), false);
});
