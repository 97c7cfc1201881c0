/** More tasks are pending than a newly connected delegate can take. It gets the next task each time it finishes one. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createClient } from "../../support/clients/client.ts";
import { pipelineOf, step } from "../../support/clients/pipeline.ts";
import { startTestPlatform, type TestPlatform } from "../../support/platform.ts";
import { pretendDelegate } from "../../support/pretend-delegate.ts";

let platform: TestPlatform;

before(async () => {
  platform = await startTestPlatform();
});

after(() => platform?.stop());

test("a queue drains without the slow poll", async () => {
  const client = createClient({ ...platform, baseUrl: platform.url });
  await client.makeProject();
  await client.makePipeline(pipelineOf("queue", step("one", "echo one")));
  const ids = [
    await client.run("queue"),
    await client.run("queue"),
    await client.run("queue"),
    await client.run("queue"),
  ];
  const delegate = await pretendDelegate({ url: platform.url, token: await platform.delegateToken(), slots: 2 });
  await delegate.next("welcome");
  for (const _ of ids) delegate.finish(await delegate.next("run"), { output: "one\n" });
  for (const id of ids) assert.equal(await client.end(id), "SUCCESS");
  await delegate.close();
});
