/** Differences that operations record in the audit trail. None contains a secret. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  connectorYaml,
  create,
  inputSetYaml,
  JSON_TYPE,
  made,
  createTargets,
  pipelineYaml,
  projectYaml,
  SCOPE,
  triggerYaml,
  YAML,
} from "../../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../../test/support/platform.ts";
import type { FieldChange } from "./difference.ts";

let platform: TestPlatform;
before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
});
after(() => platform?.stop());

/** The difference of the newest entry of this operation. */
async function newest(operation: string): Promise<readonly FieldChange[]> {
  const [row] = await platform.db.query<{ operation: string; difference: { changes: FieldChange[] } }>(
    "select operation, difference from audit_entries order by id desc limit 1",
  );
  assert.equal(row?.operation, operation);
  return row.difference.changes;
}

const put = (path: string, body: unknown, contentType = JSON_TYPE) =>
  made(platform.send("PUT", path, { body: typeof body === "string" ? body : JSON.stringify(body), contentType }));
const remove = (path: string) => made(platform.send("DELETE", path));

test("projects and organizations", async () => {
  const project = { identifier: "p", orgIdentifier: "default", name: "P" };
  await made(create.project(platform, JSON.stringify({ project }), JSON_TYPE));
  assert.deepEqual(await newest("project.create"), [
    { field: "name", after: "P" },
    { field: "color", after: "#0063F7" },
  ]);
  const path = "/ng/api/projects/p?orgIdentifier=default";
  await put(path, { project: { ...project, name: "Q", tags: { team: "x" } } });
  assert.deepEqual(await newest("project.update"), [
    { field: "name", before: "P", after: "Q" },
    { field: "tags.team", after: "x" },
  ]);
  await remove(path);
  assert.deepEqual(await newest("project.delete"), [
    { field: "name", before: "Q" },
    { field: "color", before: "#0063F7" },
    { field: "tags.team", before: "x" },
  ]);
  const organization = { identifier: "o", name: "O" };
  await made(
    platform.send("POST", "/ng/api/organizations", { body: JSON.stringify({ organization }), contentType: JSON_TYPE }),
  );
  await put("/ng/api/organizations/o", { organization: { ...organization, description: "d" } });
  assert.deepEqual(await newest("organization.update"), [{ field: "description", before: "", after: "d" }]);
  await remove("/ng/api/organizations/o");
  assert.deepEqual(await newest("organization.delete"), [
    { field: "name", before: "O" },
    { field: "description", before: "d" },
  ]);
});

test("connectors: the changed fields of the spec, and the secrets that it references", async () => {
  await made(create.connector(platform, connectorYaml("changed")));
  const [first] = await newest("connector.create");
  assert.deepEqual(first, { field: "name", after: "Registry" });
  await put("/ng/api/connectors", connectorYaml("changed").replace("/v2/", "/v3/"), "text/yaml");
  assert.deepEqual(await newest("connector.update"), [
    {
      field: "spec.registryUrl",
      before: "https://registry.example.com/v2/",
      after: "https://registry.example.com/v3/",
    },
  ]);
  await remove("/ng/api/connectors/changed");
  assert.equal((await newest("connector.delete"))[0]?.before, "Registry");
});

test("environments and services, created, replaced and upserted", async () => {
  const environment = (type: string) => ({ environment: { identifier: "e", name: "E", type } });
  const path = "/ng/api/environmentsV2";
  await put(`${path}/upsert`, environment("PreProduction"));
  assert.ok(
    (await newest("environment.create")).some(({ field, after: to }) => field === "type" && to === "PreProduction"),
  );
  await put(`${path}/upsert`, environment("Production"));
  const changes = await newest("environment.update");
  assert.deepEqual(changes[0], { field: "type", before: "PreProduction", after: "Production" });
  await remove(`${path}/e`);
  assert.equal((await newest("environment.delete"))[0]?.before, "E");
});

test("pipelines and input sets by their lines; triggers", async () => {
  await made(create.pipeline(platform, pipelineYaml("deploy", "hunter2")));
  await newest("pipeline.create");
  const path = `/pipeline/api/pipelines/deploy?${SCOPE}`;
  await put(path, pipelineYaml("deploy", "hunter3").replace("echo $VALUE", "date; echo $VALUE"), YAML);
  const [version, yaml, ...rest] = await newest("pipeline.update");
  assert.deepEqual([version, rest], [{ field: "version", before: 1, after: 2 }, []]);
  assert.deepEqual(
    yaml?.lines?.map((line) => line.replace(/\s+/g, " ").trim()),
    [
      "@@ -26,1 +26,1 @@",
      "- source: { type: Inline, spec: { script: echo $VALUE } }",
      "- environmentVariables: [{ name: VALUE, type: String, value: ***",
      "+ source: { type: Inline, spec: { script: date; echo $VALUE } }",
      "+ environmentVariables: [{ name: VALUE, type: String, value: ***",
    ].map((line, nth) => (nth === 0 ? yaml?.lines?.[0]?.trim() : line)),
  );
  await made(create.trigger(platform, "deploy", triggerYaml()));
  assert.ok((await newest("trigger.create")).some(({ field, after: to }) => field === "enabled" && to === true));
  const open = "  variables: [{ name: who, type: String, value: <+input> }]\n";
  await made(create.pipeline(platform, pipelineYaml("open", "none", open)));
  const set = inputSetYaml("open", "basic", "    variables: [{ name: who, value: hunter2 }]\n");
  await made(create.inputSet(platform, "open", set));
  await put(
    `/pipeline/api/inputSets/basic?${SCOPE}&pipelineIdentifier=open`,
    set.replace("name: basic", "name: Basic").replace("hunter2", "hunter3"),
    YAML,
  );
  const changes = await newest("input_set.update");
  assert.deepEqual(changes[0], { field: "name", before: "basic", after: "Basic" });
  assert.ok(changes[1]?.lines?.some((line) => line.startsWith("+")));
  await remove(`/pipeline/api/inputSets/basic?${SCOPE}&pipelineIdentifier=open`);
  assert.equal((await newest("input_set.delete"))[1]?.before, "Basic");
  await remove(path);
  assert.equal((await newest("pipeline.delete"))[0]?.before, 2);
});

test("settings, tokens of delegates, and the start of a run", async () => {
  const entry = { identifier: "requests_per_minute_token", value: "5000", allowOverrides: false };
  await put("/ng/api/settings", [{ ...entry, updateType: "UPDATE" }]);
  assert.deepEqual(await newest("setting.update"), [
    { field: "setting", before: "60000", after: "5000" },
    { field: "source", before: "DEFAULT", after: "ACCOUNT" },
    { field: "allowOverrides", before: true, after: false },
  ]);
  assert.equal((await platform.send("POST", "/ng/api/delegate-token-ng?tokenName=t")).status, 200);
  assert.deepEqual(await newest("delegate-token.create"), [
    { field: "name", after: "t" },
    { field: "revoked", after: false },
  ]);
  const { planExecution } = await made(
    create.run(platform, "open", "pipeline: { variables: [{ name: who, value: hunter2 }] }"),
  );
  assert.deepEqual(await newest("execution.start"), [
    { field: "execution", after: planExecution.uuid },
    { field: "runSequence", after: 1 },
    { field: "pipelineVersion", after: 1 },
  ]);
});

test("secrets: their visible fields, and that the value was replaced, but never the value", async () => {
  const secret = (value: string, name: string) =>
    JSON.stringify({
      secret: {
        type: "SecretText",
        name,
        identifier: "s",
        spec: { type: "SecretTextSpec", secretManagerIdentifier: "platformSecretManager", valueType: "Inline", value },
      },
    });
  const first = await platform.send("POST", "/ng/api/v2/secrets", {
    body: secret("hunter2", "S"),
    contentType: JSON_TYPE,
  });
  assert.equal(first.status, 200, first.text);
  assert.deepEqual((await newest("secret.create")).slice(0, 2), [
    { field: "name", after: "S" },
    { field: "type", after: "ENCRYPTED_TEXT" },
  ]);
  await put("/ng/api/v2/secrets/s", secret("hunter3", "T"));
  assert.deepEqual(await newest("secret.update"), [
    { field: "name", before: "S", after: "T" },
    { field: "content", after: "replaced" },
  ]);
  await platform.send("DELETE", "/ng/api/v2/secrets/s");
  assert.equal((await newest("secret.delete"))[0]?.before, "T");
});

test("no difference contains a secret or the value of a field with a sensitive name", async () => {
  const text = JSON.stringify(await platform.db.query("select difference from audit_entries"));
  assert.doesNotMatch(text, /hunter/);
});

test("REST and GraphQL show the difference; an entry without one shows null", async () => {
  const { content } = await made(
    platform.send("POST", "/audit/api/audits/list", {
      contentType: JSON_TYPE,
      body: JSON.stringify({ resources: [{ type: "CONNECTOR", identifier: "changed" }], actions: ["UPDATE"] }),
    }),
  );
  const url = (version: string): string => `https://registry.example.com/${version}/`;
  assert.deepEqual(content[0].auditEventData, {
    type: "CHANGES",
    changes: [{ field: "spec.registryUrl", before: url("v2"), after: url("v3") }],
    cut: false,
  });
  assert.deepEqual(content[0].yamlDiffRecord, {
    oldYaml: `spec.registryUrl: ${url("v2")}\n`,
    newYaml: `spec.registryUrl: ${url("v3")}\n`,
  });
  const { body } = await platform.graphql(
    `{ audits(limit: 100) { nodes { changes { resourceId operationType fields { field before after lines } } } } }`,
  );
  const all = body.data.audits.nodes.map((node: { changes: unknown[] }) => node.changes[0]);
  const changed = all.find(
    (one: { resourceId: string; operationType: string }) =>
      one.resourceId === "changed" && one.operationType === "UPDATE",
  );
  assert.deepEqual(changed.fields, [{ field: "spec.registryUrl", before: url("v2"), after: url("v3"), lines: null }]);
});
