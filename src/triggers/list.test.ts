/** The triggers of a project: those of the pipelines that the reader may see. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { JSON_TYPE, made } from "../../test/support/contract.ts";
import { addPipelineViewer } from "../../test/support/pipeline-viewer.ts";
import { startTestPlatform, type TestPlatform } from "../../test/support/platform.ts";
import { createPipelines, SCOPE } from "../../test/support/runs.ts";

let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  await createPipelines(platform, { id: "one", steps: [{ id: "a" }] }, { id: "two", steps: [{ id: "a" }] });
  for (const [pipeline, identifier] of [
    ["one", "b_hook"],
    ["two", "a_hook"],
    ["two", "b_hook"],
    ["two", "gone"],
  ] as const)
    await made(createTrigger(pipeline, identifier));
  await made(platform.send("DELETE", `/pipeline/api/triggers/gone?${SCOPE}&targetIdentifier=two`));
});
after(() => platform?.stop());

const createTrigger = (pipelineIdentifier: string, identifier: string) =>
  platform.send("POST", `/pipeline/api/triggers?${SCOPE}&targetIdentifier=${pipelineIdentifier}`, {
    contentType: JSON_TYPE,
    body: JSON.stringify({
      trigger: {
        ...{ name: identifier, identifier, orgIdentifier: "default", projectIdentifier: "p", pipelineIdentifier },
        source: { type: "Webhook", spec: { type: "Custom" } },
      },
    }),
  });

const list = (query: string, apiKey = platform.apiKey) =>
  platform.send("GET", `/pipeline/api/triggers?${SCOPE}&${query}`, { apiKey });

type Row = { readonly targetIdentifier: string; readonly identifier: string };
async function names(query = "", apiKey?: string): Promise<readonly string[]> {
  const { content, totalItems } = await made(list(query, apiKey));
  if (query === "") assert.equal(totalItems, content.length);
  return content.map(({ targetIdentifier, identifier }: Row) => `${targetIdentifier}/${identifier}`);
}

test("without a pipeline the list has the triggers of all pipelines of the project", async () => {
  assert.deepEqual(await names(), ["two/a_hook", "one/b_hook", "two/b_hook"]);
  assert.deepEqual(await names("targetIdentifier=two"), ["two/a_hook", "two/b_hook"]);
  assert.deepEqual(await names("searchTerm=B_H"), ["one/b_hook", "two/b_hook"]);
  assert.deepEqual(await names("size=1&page=1"), ["one/b_hook"]);
  assert.equal((await list("targetIdentifier=")).status, 400);
});

test("a reader of one pipeline sees the triggers of it, and is told of no other", async () => {
  const apiKey = await addPipelineViewer(platform, "one");
  assert.deepEqual(await names("", apiKey), ["one/b_hook"]);
  assert.equal((await list("targetIdentifier=two", apiKey)).status, 403);
  const stranger = await platform.addAccount();
  assert.equal((await list("", stranger.apiKey)).status, 403);
});

test("the triggers of a deleted pipeline leave the list; a missing project is told by its name", async () => {
  await made(platform.send("DELETE", `/pipeline/api/pipelines/two?${SCOPE}`));
  assert.deepEqual(await names(), ["one/b_hook"]);
  const { status, body } = await platform.send(
    "GET",
    "/pipeline/api/triggers?orgIdentifier=default&projectIdentifier=nowhere",
  );
  assert.equal(status, 404);
  assert.match(body.message, /nowhere/);
});
