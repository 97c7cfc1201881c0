/** Input sets merged, and what becomes of them when the pipeline changes. */
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
} from "../../../test/support/contract.ts";
import { startTestPlatform, type Answer, type TestPlatform } from "../../../test/support/platform.ts";

const OPEN = `  variables:
    - { name: who, type: String, value: <+input> }
    - { name: count, type: Number, value: "<+input>.default(1)" }
    - { name: fixed, type: String, value: as it is }
  delegateSelectors: <+input>.default(linux)
`;
const openYaml = (more = OPEN): string => pipelineYaml("open", "<+input>.default(none)", more);
const variables = (...list: readonly string[]): string => `    variables: [${list.join(", ")}]\n`;
const who = (value: string): string => `{ name: who, value: ${value} }`;
const count = (value: string): string => `{ name: count, value: ${value} }`;

let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
  await made(create.pipeline(platform, openYaml()));
  const save = (identifier: string, given: string): Promise<unknown> =>
    made(create.inputSet(platform, "open", inputSetYaml("open", identifier, given)));
  await save("world", variables(who("world")));
  await save("moon", variables(who("moon"), count("2")) + "    delegateSelectors: [a, b]\n");
  await save("five", variables(count("5")));
  await save("nothing", "");
  await made(create.overlay(platform, "open", overlayYaml("both", "moon, world")));
});
after(() => platform?.stop());

const post = (path: string, body: unknown, pipeline = "open"): Promise<Answer> =>
  platform.send("POST", `/pipeline/api/inputSets/${path}?${SCOPE}&pipelineIdentifier=${pipeline}`, {
    contentType: JSON_TYPE,
    body: JSON.stringify(body),
  });
const get = (path: string) =>
  made(platform.send("GET", `/pipeline/api/inputSets${path}?${SCOPE}&pipelineIdentifier=open`));
const valuesOf = (yaml: string) => {
  const { variables: list, delegateSelectors } = parse(yaml).pipeline;
  return [...list.map(({ value }: { value: unknown }) => value), delegateSelectors];
};
const merged = async (...inputSetReferences: string[]): Promise<unknown[]> =>
  valuesOf((await made(post("merge", { inputSetReferences }))).pipelineYaml);

const VALUE = { name: "VALUE", type: "String", value: "<+input>.default(none)" };

test("the template: the runtime inputs and where they belong, and whether there are input sets", async () => {
  const { inputSetTemplateYaml, ...rest } = await made(post("template", { stageIdentifiers: [] }));
  assert.deepEqual(rest, { replacedExpressions: [], modules: ["CD", "PMS"], hasInputSets: true });
  const { stages, ...template } = parse(inputSetTemplateYaml).pipeline;
  assert.deepEqual(template, {
    identifier: "open",
    variables: [
      { name: "who", type: "String", value: "<+input>" },
      { name: "count", type: "Number", value: "<+input>.default(1)" },
    ],
    delegateSelectors: "<+input>.default(linux)",
  });
  assert.deepEqual(stages[0].stage.spec.execution.steps[0].step.spec.environmentVariables, [VALUE]);
  await made(create.pipeline(platform, pipelineYaml("closed")));
  const closed = await made(
    platform.send("POST", `/pipeline/api/inputSets/template?${SCOPE}&pipelineIdentifier=closed`),
  );
  assert.deepEqual([closed.inputSetTemplateYaml, closed.hasInputSets], [null, false]);
  // A template that is sent back as it was gives nothing, and may be saved.
  const { pipeline } = parse(inputSetTemplateYaml);
  const sent = JSON.stringify({ inputSet: { name: "T", identifier: "template", pipeline } });
  await made(create.inputSet(platform, "open", sent, JSON_TYPE));
  assert.deepEqual(await merged("world", "template"), await merged("world"));
});

test("later sets win; an overlay stands for what it lists; what nobody gives stays open", async () => {
  const [one, selectors] = ["<+input>.default(1)", "<+input>.default(linux)"];
  assert.deepEqual(await merged(), ["<+input>", one, selectors]);
  assert.deepEqual(await merged("nothing"), ["<+input>", one, selectors]);
  assert.deepEqual(await merged("world"), ["world", one, selectors]);
  assert.deepEqual(await merged("world", "moon"), ["moon", 2, ["a", "b"]]);
  assert.deepEqual(await merged("moon", "world", "five"), ["world", 5, ["a", "b"]]);
  assert.deepEqual(await merged("both"), ["world", 2, ["a", "b"]]);
  assert.deepEqual(await merged("five", "both"), ["world", 2, ["a", "b"]]);
  assert.deepEqual(await merged("world", "five", "moon", "five", "world"), ["world", 5, ["a", "b"]]);
});

test("the answer has the runtime inputs and, when asked for, the whole pipeline", async () => {
  const answer = await made(post("merge", { inputSetReferences: ["moon"], withMergedPipelineYaml: true }));
  const { pipelineYaml: yaml, completePipelineYaml, ...rest } = answer;
  assert.deepEqual(rest, { isErrorResponse: false, inputSetErrorWrapper: null });
  assert.deepEqual(Object.keys(parse(yaml).pipeline), ["identifier", "variables", "delegateSelectors", "stages"]);
  const expected = parse(openYaml());
  expected.pipeline.variables[0].value = "moon";
  expected.pipeline.variables[1].value = 2;
  expected.pipeline.delegateSelectors = ["a", "b"];
  assert.deepEqual(parse(completePipelineYaml), expected);
  const without = await made(post("merge", { inputSetReferences: ["moon"] }));
  assert.deepEqual([without.pipelineYaml, without.completePipelineYaml], [yaml, null]);
});

test("runtime inputs go over the sets, and are checked with line and column", async () => {
  const over = (runtimeInputYaml: string, inputSetReferences = ["moon"]): Promise<Answer> =>
    post("mergeWithTemplateYaml", { inputSetReferences, runtimeInputYaml });
  const answer = await made(over("pipeline: { variables: [{ name: who, value: mars }] }"));
  assert.deepEqual(valuesOf(answer.pipelineYaml), ["mars", 2, ["a", "b"]]);
  const { status, body } = await over("pipeline:\n  variables: [{ name: fixed, value: x }]\n");
  assert.deepEqual([status, body.code, body.metadata.schemaErrors[0].line], [400, "INVALID_REQUEST", 2]);
  const last = { inputSetReferences: ["moon"], lastYamlToMerge: "pipeline: { delegateSelectors: [c] }" };
  assert.deepEqual(valuesOf((await made(post("merge", last))).pipelineYaml), ["moon", 2, ["c"]]);
  const both = await post("merge", { ...last, runtimeInputYaml: "pipeline: { delegateSelectors: [d] }" });
  assert.equal(both.headers.get("railhead-ignored-fields"), "runtimeInputYaml");
  assert.deepEqual(valuesOf(both.body.data.pipelineYaml), ["moon", 2, ["c"]]);
});

test("what cannot be merged is refused by name", async () => {
  const refusal = async (body: unknown, path = "merge"): Promise<unknown[]> => {
    const { status, body: answer } = await post(path, body);
    return [status, answer.code, answer.message];
  };
  for (const path of ["merge", "mergeWithTemplateYaml", "template"])
    assert.deepEqual(await refusal({ stageIdentifiers: ["build"] }, path), [
      400,
      "UNSUPPORTED_OPERATION_EXCEPTION",
      "Choosing stages (stageIdentifiers) is not supported yet.",
    ]);
  assert.deepEqual(await refusal({ inputSetReferences: ["moon", "none", "neither"] }), [
    400,
    "INVALID_REQUEST",
    "Input sets that pipeline [open] does not have: none, neither.",
  ]);
  assert.equal((await refusal({ withMergedPipelineYaml: "yes" }))[0], 400);
  assert.equal((await refusal({ inputSetReferences: Array(21).fill("moon") }))[0], 400);
  assert.equal((await post("merge", {}, "none")).status, 404);
});

test("no more than 40 input sets at a time, and 512 KiB of documents", async () => {
  for (const overlay of ["o1", "o2", "o3"]) {
    const names = Array.from({ length: 20 }, (_v, n) => `${overlay}_${n}`);
    await Promise.all(names.map((name) => made(create.inputSet(platform, "open", inputSetYaml("open", name)))));
    await made(create.overlay(platform, "open", overlayYaml(overlay, names.join(", "))));
  }
  await made(post("merge", { inputSetReferences: ["o1", "o2"] }));
  for (const inputSetReferences of [
    ["o1", "o2", "moon"],
    ["o1", "o2", "o3"],
    // Read last by its name, so that it is the one which is not read any more.
    ["o1", "o2", "o3", "world"],
  ]) {
    const { status, body } = await post("merge", { inputSetReferences });
    assert.deepEqual([status, body.message], [400, "Input sets of one run: at most 40 input sets."]);
  }
  const large = Array.from({ length: 3 }, (_v, n) => `large_${n}`);
  for (const name of large)
    await made(
      create.inputSet(platform, "open", `${inputSetYaml("open", name)}${`# ${"x".repeat(100)}\n`.repeat(1_900)}`),
    );
  const { status, body } = await post("merge", { inputSetReferences: large });
  assert.deepEqual([status, body.message], [400, "Input sets of one run: at most 512 KiB of documents."]);
});

test("a set whose value has no place in the changed pipeline is outdated, and so is the overlay that lists it", async () => {
  const put = (yaml: string) =>
    made(
      platform.send("PUT", `/pipeline/api/pipelines/open?${SCOPE}`, {
        contentType: YAML,
        body: yaml,
      }),
    );
  assert.equal((await get("/moon")).isOutdated, false);
  await put(openYaml(OPEN.replace('"<+input>.default(1)"', "7")));
  const moon = await get("/moon");
  assert.deepEqual([moon.isOutdated, moon.isErrorResponse], [true, true]);
  const message = "This is fixed by the pipeline; only its runtime inputs can be given";
  const wrapper = (...names: string[]) => ({
    type: "InputSetErrorWrapper",
    errorPipelineYaml: null,
    uuidToErrorResponseMap: {
      "pipeline.variables[1].value": {
        errors: names.slice(0, 1).map((name) => ({ fieldName: "value", message, identifierOfErrorSource: name })),
      },
    },
    invalidInputSetReferences: names,
  });
  assert.deepEqual(moon.inputSetErrorWrapper, wrapper("moon"));
  const both = await get("/overlay/both");
  assert.equal(both.isOutdated, true);
  assert.deepEqual(both.invalidInputSetReferences, { moon: `pipeline.variables[1].value: ${message}` });
  assert.equal((await get("/world")).isOutdated, false);

  const { content } = await made(
    platform.send("GET", `/pipeline/api/inputSets?${SCOPE}&pipelineIdentifier=open&size=100`),
  );
  const outdated = content.filter((one: { isOutdated: boolean }) => one.isOutdated);
  assert.deepEqual(
    outdated.map((one: { identifier: string }) => one.identifier),
    ["both", "five", "moon", "template"],
    "what names a runtime input that is gone is outdated too",
  );
  assert.deepEqual(outdated[0].overlaySetErrorDetails, both.invalidInputSetReferences);
  assert.deepEqual(outdated[2].inputSetErrorDetails, wrapper("moon"));

  const answer = await made(post("merge", { inputSetReferences: ["both"], withMergedPipelineYaml: true }));
  assert.deepEqual(answer, {
    pipelineYaml: null,
    completePipelineYaml: null,
    isErrorResponse: true,
    inputSetErrorWrapper: wrapper("moon"),
  });
  await put(openYaml());
  assert.equal((await get("/overlay/both")).isOutdated, false);
});
