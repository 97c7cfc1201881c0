/** An answer that would be too long is refused before it is written. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, made, createTargets, pipelineYaml, projectYaml } from "../../../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../../../test/support/platform.ts";

let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
});
after(() => platform?.stop());

test("a long text under thirty names in each entry of a list is refused by its size", async () => {
  const text = "x".repeat(200_000);
  for (let nth = 0; nth < 4; nth += 1) {
    const yaml = pipelineYaml(`long_${nth}`).replace(/^ {2}identifier: .*$/m, `$&\n  description: ${text}`);
    await made(create.pipeline(platform, yaml));
  }
  const names = Array.from({ length: 29 }, (_, nth) => `a${nth}: description`).join(" ");
  const { status, body } = await platform.graphql(`{ pipelines(limit: 10) { nodes { ${names} } } }`);
  assert.equal(status, 400, JSON.stringify(body).slice(0, 300));
  assert.match(JSON.stringify(body), /The answer would have more than 16 MiB of text/);
  const one = await platform.graphql("{ pipelines(limit: 10) { nodes { description } } }");
  assert.equal(one.body.data.pipelines.nodes.length, 4);
});
