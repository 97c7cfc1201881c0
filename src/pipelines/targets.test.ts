/** `<+service.…>` and `<+env.…>`: what a stage deploys, and where to, as it was when the execution started. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { JSON_TYPE } from "../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../test/support/platform.ts";
import { pretendDelegate, type PretendDelegate } from "../../test/support/pretend-delegate.ts";
import { addPipeline, createPipelines, SCOPE, startRun } from "../../test/support/runs.ts";

const TEXT = "<+service.name> <+service.tags.team> <+env.name>, <+env.identifier>, <+env.type>";

let platform: TestPlatform;
let delegate: PretendDelegate;
before(async () => {
  platform = await startTestPlatform();
  await createPipelines(platform);
  const place = { orgIdentifier: "default", projectIdentifier: "p" };
  for (const [path, body] of [
    ["servicesV2", { name: "S of the shop", identifier: "s", tags: { team: "blue" }, ...place }],
    ["environmentsV2", { name: "Live", identifier: "live", type: "Production", ...place }],
  ] as const) {
    const method = path === "servicesV2" ? "PUT" : "POST";
    const answer = await platform.send(method, `/ng/api/${path}`, {
      ...{ contentType: JSON_TYPE, body: JSON.stringify(body) },
    });
    assert.equal(answer.status, 200, answer.text);
  }
  delegate = await pretendDelegate({ url: platform.url, token: await platform.delegateToken() });
  await delegate.next("welcome");
});
after(async () => {
  await delegate?.close();
  await platform?.stop();
});

async function textOf(id: string): Promise<unknown> {
  await startRun(platform, id);
  const run = await delegate.next("run");
  delegate.finish(run);
  await delegate.next("finishedAck");
  const env = run.work["env"] as readonly { readonly name: string; readonly value: string }[];
  return env.find(({ name }) => name === "TEXT")?.value;
}

test("a step reads the service and the environment of its stage", async () => {
  await addPipeline(platform, { id: "here", steps: [{ id: "a", env: { TEXT } }] });
  assert.equal(await textOf("here"), "S of the shop blue E, e, PreProduction");
  await addPipeline(platform, { id: "live", environment: "live", steps: [{ id: "a", env: { TEXT } }] });
  assert.equal(await textOf("live"), "S of the shop blue Live, live, Production");
});

test("a stage without them is refused when it is saved, with the place", async () => {
  const script = { shell: "Bash", onDelegate: true, source: { type: "Inline", spec: { script: "echo <+env.type>" } } };
  const step = { step: { name: "a", identifier: "a", type: "ShellScript", spec: script } };
  const stage = { stage: { name: "s", identifier: "s", type: "Custom", spec: { execution: { steps: [step] } } } };
  const place = { orgIdentifier: "default", projectIdentifier: "p" };
  const answer = await platform.send("POST", `/pipeline/api/pipelines?${SCOPE}`, {
    contentType: JSON_TYPE,
    body: JSON.stringify({ pipeline: { name: "custom", identifier: "custom", ...place, stages: [stage] } }),
  });
  assert.equal(answer.status, 400);
  assert.match(
    answer.body.message,
    /'env.type' has no value here: a stage of type Custom has no environment, at line 1/,
  );
});
