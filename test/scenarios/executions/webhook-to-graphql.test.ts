/** The main use case: YAML, a webhook call, a delegate's work, and queries for status and timing. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { pretendDelegate, scriptOf, type PretendDelegate } from "../../support/pretend-delegate.ts";
import { startTestPlatform, type TestPlatform } from "../../support/platform.ts";

const example = (name: string): Promise<string> =>
  readFile(new URL(`../../../examples/quickstart/${name}`, import.meta.url), "utf8");
const SCOPE = "orgIdentifier=default&projectIdentifier=quickstart";

let platform: TestPlatform;
let delegate: PretendDelegate;

before(async () => {
  platform = await startTestPlatform();
  delegate = await pretendDelegate({ url: platform.url, token: await platform.delegateToken(), name: "local" });
  await delegate.next("welcome");
});

after(async () => {
  await delegate?.close();
  await platform?.stop();
});

test("the quickstart runs from its files to a queryable execution", async () => {
  const project = await platform.send("POST", "/gateway/ng/api/projects?orgIdentifier=default", {
    contentType: "application/yaml",
    body: await example("project.yaml"),
  });
  assert.equal(project.body.status, "SUCCESS");
  const connector = await platform.send("POST", "/gateway/ng/api/connectors", {
    contentType: "text/yaml",
    body: await example("connector.yaml"),
  });
  assert.equal(connector.body.status, "SUCCESS");
  for (const [path, file] of [
    ["servicesV2", "service.yaml"],
    ["environmentsV2", "environment.yaml"],
  ] as const) {
    const made = await platform.send("POST", `/gateway/ng/api/${path}`, {
      contentType: "application/yaml",
      body: await example(file),
    });
    assert.equal(made.body.status, "SUCCESS", made.text);
  }
  const pipeline = await platform.send("POST", `/gateway/pipeline/api/pipelines?${SCOPE}`, {
    contentType: "application/yaml",
    body: await example("pipeline.yaml"),
  });
  assert.deepEqual(pipeline.body, {
    status: "SUCCESS",
    data: "deploy_web_shop",
    metaData: null,
    correlationId: pipeline.body.correlationId,
  });
  const trigger = await platform.send(
    "POST",
    `/gateway/pipeline/api/triggers?${SCOPE}&targetIdentifier=deploy_web_shop`,
    { contentType: "application/yaml", body: await example("trigger.yaml") },
  );
  assert.equal(trigger.body.status, "SUCCESS");

  const call = await fetch(trigger.body.data.webhookUrl, {
    method: "POST",
    body: JSON.stringify({ version: "1.4.2", commit: "9fceb02", author: "Ada" }),
    headers: { "content-type": "application/json" },
  });
  const delivery = (await call.json()) as { data: { eventCorrelationId: string; apiUrl: string } };
  assert.match(delivery.data.eventCorrelationId, /^[0-9a-f]{24}$/);

  const first = await delegate.next("run");
  assert.deepEqual(scriptOf(first).env.slice(0, 5), [
    { name: "PLATFORM_KUBE_NAMESPACE", value: "web-shop" },
    { name: "PLATFORM_KUBE_RELEASE_NAME", value: "web-shop" },
    { name: "VERSION", value: "1.4.2" },
    { name: "COMMIT", value: "9fceb02" },
    { name: "AUTHOR", value: "Ada" },
  ]);
  platform.clock.advance(1_500);
  delegate.finish(first, {
    output: "checked\n",
    outputs: [
      { name: "image", value: "web:1.4.2" },
      { name: "digest", value: "sha256:1" },
    ],
  });
  const second = await delegate.next("run");
  assert.equal(scriptOf(second).env.find(({ name }) => name === "IMAGE")?.value, "web:1.4.2");
  delegate.finish(second, { output: "rolled out\n" });
  delegate.finish(await delegate.next("run"), { output: "smoke\n" });
  for (let acks = 0; acks < 3; acks += 1) await delegate.next("finishedAck");

  const found = await platform.graphql(
    `{ applications(limit: 1) { nodes { name pipelines(limit: 1) { nodes { id name createdBy { id } } } } } }`,
  );
  const [application] = found.body.data.applications.nodes;
  const { id } = application.pipelines.nodes[0];
  const asked = await platform.graphql(
    `query ($f: [ExecutionFilter]) { executions(filters: $f, limit: 1) { nodes { id application { name } status startedAt endedAt } } }`,
    { f: [{ pipeline: { operator: "EQUALS", values: [id] } }] },
  );
  const [execution] = asked.body.data.executions.nodes;
  assert.equal(execution.status, "SUCCESS");
  assert.deepEqual(execution.application, { name: "Quickstart" });
  assert.equal(execution.endedAt - execution.startedAt, 1_500);
  const logs = await platform.send("GET", `/gateway/pipeline/api/pipelines/execution/${execution.id}/logs`);
  assert.equal(logs.text, "checked\nrolled out\nsmoke\n");

  const fate = await fetch(delivery.data.apiUrl);
  const { data } = (await fate.json()) as {
    data: {
      webhookProcessingDetails: Record<string, unknown>;
      executionDetails: { pipelineExecutionSummary: Record<string, unknown> };
    };
  };
  assert.equal(data.webhookProcessingDetails["status"], "TARGET_EXECUTION_REQUESTED");
  assert.equal(data.webhookProcessingDetails["pipelineExecutionId"], execution.id);
  assert.equal(data.executionDetails.pipelineExecutionSummary["status"], "Success");
});
