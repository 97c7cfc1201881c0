/** The snippets of the public interface, each in a pipeline. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { parse } from "yaml";
import { create, made, projectYaml } from "../../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import { stepModules } from "../../steps/table.ts";
import { stageTypes } from "../document/stage.ts";

let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
});
after(() => platform?.stop());

type Snippet = Readonly<Record<"place" | "kind" | "name" | "description" | "yaml", string>> & {
  readonly type: string | null;
  readonly pipelineYaml: string | null;
};
const list = (): Promise<readonly Snippet[]> => made(platform.send("GET", "/pipeline/api/yaml-snippets"));

const wait = { type: "Wait", name: "Wait", identifier: "wait", spec: { duration: "10s" } };
const custom = (steps: unknown): object => ({
  stage: { name: "Stage", identifier: "stage", type: "Custom", spec: { execution: { steps } } },
});

/** A pipeline with the snippet in its place, and nothing else that it does not need. */
function pipelineWith({ place, yaml, pipelineYaml }: Snippet, identifier: string): object {
  const value = parse(yaml);
  const stages = place === "stages" ? value : [custom(place === "steps" ? value : [{ step: { ...wait, ...value } }])];
  const more = pipelineYaml === null ? {} : parse(pipelineYaml);
  return { pipeline: { name: "Snippet", identifier, ...more, stages } };
}

test("each snippet can be saved in its place as it is", async () => {
  for (const [nth, snippet] of (await list()).entries()) {
    const document = JSON.stringify(pipelineWith(snippet, `snippet_${nth}`));
    const saved = await create.pipeline(platform, document, "application/json");
    assert.equal(saved.status, 200, `${snippet.name}: ${saved.text}`);
    assert.ok(snippet.description.length > 0, snippet.name);
  }
});

test("each type of stage and step has a snippet, and names are told apart", async () => {
  const all = await list();
  const types = all.flatMap(({ type }) => (type === null ? [] : [type]));
  assert.deepEqual(
    types,
    [...stageTypes("saved"), ...stepModules].map(({ type }) => type),
  );
  assert.equal(new Set(all.map(({ place, name }) => `${place} ${name}`)).size, all.length);
});

test("the list has an ETag", async () => {
  const { headers } = await platform.send("GET", "/pipeline/api/yaml-snippets");
  const etag = headers.get("etag") ?? "";
  const again = await platform.send("GET", "/pipeline/api/yaml-snippets", { headers: { "if-none-match": etag } });
  assert.equal(again.status, 304);
});
