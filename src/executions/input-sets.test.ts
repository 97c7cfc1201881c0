/** Runs and reruns with input sets. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { parse } from "yaml";
import {
  create,
  inputSetYaml,
  JSON_TYPE,
  made,
  createTargets,
  overlayYaml,
  pipelineYaml,
  projectYaml,
  SCOPE,
  YAML,
} from "../../test/support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../test/support/platform.ts";

const OPEN = `  variables:
    - { name: who, type: String, value: <+input> }
    - { name: count, type: String, value: "<+input>.default(1)" }
`;
const openYaml = (more = OPEN): string => pipelineYaml("open", "none", more);
const variables = (...list: readonly string[]): string => `    variables: [${list.join(", ")}]\n`;

let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
  await made(create.pipeline(platform, openYaml()));
  const save = (identifier: string, given: string): Promise<unknown> =>
    made(create.inputSet(platform, "open", inputSetYaml("open", identifier, given)));
  await save("world", variables("{ name: who, value: world }"));
  await save("moon", variables("{ name: who, value: moon }", '{ name: count, value: "2" }'));
  await save("three", variables('{ name: count, value: "3" }'));
  await made(create.overlay(platform, "open", overlayYaml("both", "moon, three")));
});
after(() => platform?.stop());

const EXECUTE = "/pipeline/api/pipeline/execute";
const listed = (body: unknown, path = "open"): Promise<Answer> =>
  platform.send("POST", `${EXECUTE}/${path}/inputSetList?${SCOPE}`, {
    contentType: JSON_TYPE,
    body: JSON.stringify(body),
  });
const byQuery = (query: string, body?: string, path = "open"): Promise<Answer> =>
  platform.send("POST", `${EXECUTE}/${path}?${SCOPE}&${query}`, body === undefined ? {} : { contentType: YAML, body });
const idOf = async (answer: Promise<Answer>): Promise<string> => (await made(answer)).planExecution.uuid;

/** What the variables of the run became, and what is kept as its inputs. */
async function ran(answer: Promise<Answer>): Promise<unknown[]> {
  const id = await idOf(answer);
  const [row] = await platform.db.query<{ variables: Record<string, unknown>; input: string }>(
    `select plan->'context'->'pipeline'->'variables' as variables, input_yaml as input
       from executions order by created_at desc, id desc limit 1`,
  );
  const text = await platform.send("GET", `/pipeline/api/pipelines/execution/${id}/inputset?${SCOPE}`);
  assert.equal(text.text, row?.input ?? "");
  return [row?.variables["who"], row?.variables["count"]];
}

test("sets in the body: later ones win, overlays stand for theirs, lastYamlToMerge goes over all", async () => {
  assert.deepEqual(await ran(listed({ inputSetReferences: ["world"] })), ["world", "1"]);
  assert.deepEqual(await ran(listed({ inputSetReferences: ["moon", "world"] })), ["world", "2"]);
  assert.deepEqual(await ran(listed({ inputSetReferences: ["both", "world"], withMergedPipelineYaml: true })), [
    "world",
    "3",
  ]);
  const lastYamlToMerge = "pipeline: { variables: [{ name: who, value: mars }] }";
  assert.deepEqual(await ran(listed({ inputSetReferences: ["both"], lastYamlToMerge })), ["mars", "3"]);
  assert.deepEqual(await ran(listed({ lastYamlToMerge, stageIdentifiers: [] })), ["mars", "1"]);
});

test("sets in the query, several times or with commas, and the body over them", async () => {
  assert.deepEqual(await ran(byQuery("inputSetIdentifiers=moon")), ["moon", "2"]);
  assert.deepEqual(await ran(byQuery("inputSetIdentifiers=moon&inputSetIdentifiers=three")), ["moon", "3"]);
  assert.deepEqual(await ran(byQuery("inputSetIdentifiers=moon,world")), ["world", "2"]);
  const body = "pipeline: { variables: [{ name: who, value: mars }] }";
  assert.deepEqual(await ran(byQuery("inputSetIdentifiers=both", body)), ["mars", "3"]);
  assert.deepEqual(await ran(byQuery("inputSetIdentifiers=world", undefined, "open/v2")), ["world", "1"]);
});

test("a rerun has the inputs that the sets gave then, unless it names sets itself", async () => {
  const original = await idOf(listed({ inputSetReferences: ["moon"] }));
  const changed = inputSetYaml("open", "moon", variables("{ name: who, value: phobos }"));
  await made(
    platform.send("PUT", `/pipeline/api/inputSets/moon?${SCOPE}&pipelineIdentifier=open`, {
      contentType: YAML,
      body: changed,
    }),
  );
  const again = `rerun/${original}/open`;
  assert.deepEqual(await ran(byQuery("", undefined, again)), ["moon", "2"]);
  assert.deepEqual(await ran(listed({}, again)), ["moon", "2"]);
  assert.deepEqual(await ran(listed({ inputSetReferences: ["moon"] }, again)), ["phobos", "1"]);
  assert.deepEqual(await ran(byQuery("inputSetIdentifiers=world", undefined, again)), ["world", "1"]);
});

test("what cannot run is refused and nothing is started", async () => {
  const count = () => platform.db.query("select count(*) as n from executions");
  const earlier = await count();
  const refusal = async (answer: Promise<Answer>): Promise<unknown[]> => {
    const { status, body } = await answer;
    return [status, body.code, body.message];
  };
  assert.deepEqual(await refusal(listed({ inputSetReferences: ["three"] })), [
    400,
    "INVALID_REQUEST",
    "Runtime inputs without a value: pipeline.variables[0].value (who).",
  ]);
  assert.deepEqual(await refusal(listed({ inputSetReferences: ["none"] })), [
    400,
    "INVALID_REQUEST",
    "Input sets that pipeline [open] does not have: none.",
  ]);
  assert.deepEqual(
    await refusal(byQuery("inputSetIdentifiers=none")),
    await refusal(listed({ inputSetReferences: ["none"] })),
  );
  assert.deepEqual(await refusal(listed({ stageIdentifiers: ["build"] })), [
    400,
    "UNSUPPORTED_OPERATION_EXCEPTION",
    "Choosing stages (stageIdentifiers) is not supported yet.",
  ]);
  const many = Array.from({ length: 21 }, () => "inputSetIdentifiers=world").join("&");
  assert.deepEqual((await refusal(byQuery(many)))[2], "Input sets of one run: at most 20 references.");
  const viewer = await platform.addUser("_account_viewer");
  const path = `${EXECUTE}/open/inputSetList?${SCOPE}`;
  const body = JSON.stringify({ inputSetReferences: ["world"] });
  const { status } = await platform.send("POST", path, { apiKey: viewer, contentType: JSON_TYPE, body });
  assert.equal(status, 403);
  assert.deepEqual(await count(), earlier);
});

test("sets that do not fit the pipeline any more are named, and the newest version of each is used", async () => {
  const put = (yaml: string) =>
    made(platform.send("PUT", `/pipeline/api/pipelines/open?${SCOPE}`, { contentType: YAML, body: yaml }));
  assert.deepEqual(await ran(listed({ inputSetReferences: ["world"] })), ["world", "1"]);
  await put(openYaml(OPEN.replace("<+input>", "everybody")));
  const { status, body } = await listed({ inputSetReferences: ["three", "world"] });
  assert.deepEqual(
    [status, body.message],
    [
      400,
      "Input sets that do not fit the pipeline any more: world: pipeline.variables[0].value: " +
        "This is fixed by the pipeline; only its runtime inputs can be given.",
    ],
  );
  assert.deepEqual(await ran(listed({ inputSetReferences: ["three"] })), ["everybody", "3"]);
  const yaml = parse(await inputsOfLast());
  assert.deepEqual(yaml.pipeline.variables, [{ name: "count", type: "String", value: "3" }]);
});

async function inputsOfLast(): Promise<string> {
  const [row] = await platform.db.query<{ input: string }>(
    "select input_yaml as input from executions order by created_at desc, id desc limit 1",
  );
  return row?.input ?? "";
}
