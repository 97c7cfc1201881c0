import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  create,
  JSON_TYPE,
  made,
  createTargets,
  pipelineYaml,
  projectYaml,
  triggerYaml,
} from "../../test/support/contract.ts";
import { startTestPlatform, type TestPlatform } from "../../test/support/platform.ts";

let platform: TestPlatform;
let applicationId: string;
let url: string;
let name: string;
const WHOLE = `{ description id name condition { triggerConditionType }
  details: condition { ... on OnWebhook { triggerConditionType webhookDetails { payload webhookURL header method } } } }`;

before(async () => {
  platform = await startTestPlatform();
  await made(create.project(platform, projectYaml()));
  await createTargets(platform);
  await made(create.pipeline(platform, pipelineYaml()));
  ({ webhookUrl: url, name } = await made(create.trigger(platform, "deploy", triggerYaml())));
  applicationId = (await platform.graphql('{ applicationByName(name: "The shop") { id } }')).body.data.applicationByName
    .id;
});
after(() => platform?.stop());

async function ask(query: string, apiKey = platform.apiKey) {
  const { body } = await platform.send("POST", `/api/graphql?accountId=${platform.accountId}`, {
    apiKey,
    contentType: JSON_TYPE,
    body: JSON.stringify({ query }),
  });
  assert.equal(body.errors, undefined, JSON.stringify(body.errors));
  return body.data;
}
const byName = (text: string, apiKey?: string) =>
  ask(`{ triggerByName(triggerName: "${text}", applicationId: "${applicationId}") ${WHOLE} }`, apiKey);

test("a trigger by its name and by its id, with the address of its webhook", async () => {
  const { triggerByName } = await byName(name);
  assert.deepEqual(triggerByName, {
    description: triggerByName.description,
    id: triggerByName.id,
    name,
    condition: { triggerConditionType: "WEBHOOK" },
    details: {
      triggerConditionType: "WEBHOOK",
      webhookDetails: { payload: null, webhookURL: url, header: "content-type: application/json", method: "POST" },
    },
  });
  assert.deepEqual((await ask(`{ trigger(triggerId: "${triggerByName.id}") ${WHOLE} }`)).trigger, triggerByName);
});

test("a missing trigger is null, without an error", async () => {
  assert.deepEqual(await byName("none"), { triggerByName: null });
  for (const id of ["x", "AAAAAAAAAAAAAAAAAAAAAA"])
    assert.deepEqual(await ask(`{ trigger(triggerId: "${id}") { id } }`), { trigger: null });
  assert.deepEqual(await ask(`{ triggerByName(triggerName: "${name}", applicationId: "x") { id } }`), {
    triggerByName: null,
  });
});

test("a viewer gets no token, and another account finds no trigger", async () => {
  const scope = { orgIdentifier: "default", projectIdentifier: "shop" };
  const viewer = await platform.addUser("_project_viewer", scope);
  const { triggerByName } = await byName(name, viewer);
  assert.equal(triggerByName.details.webhookDetails.webhookURL, null);
  await made(create.project(platform, projectYaml("depot").replace("The shop", "The depot")));
  const elsewhere = await platform.addUser("_project_admin", { ...scope, projectIdentifier: "depot" });
  assert.deepEqual(await byName(name, elsewhere), { triggerByName: null });
  assert.deepEqual(await ask(`{ trigger(triggerId: "${triggerByName.id}") { id } }`, elsewhere), { trigger: null });
});

test("of two triggers with one name the older one is found by it", async () => {
  const { id } = (await byName(name)).triggerByName;
  const newer = triggerYaml("deploy", "newer").replace(/^ {2}name: .*$/m, `  name: ${name}`);
  await made(create.trigger(platform, "deploy", newer));
  assert.equal((await byName(name)).triggerByName.id, id);
});
